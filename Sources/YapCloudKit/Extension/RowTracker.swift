internal import CloudKit
internal import CloudWire
internal import Yap

/// Turns changes of the app's rows into changes of their records.
final class RowTracker {
    struct PendingAttach {
        var record: CKRecord
        var database: DatabaseKey
        var isUploaded: Bool
        /// Whether the tables have no row for the record.
        var isNew = false
    }

    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    let log: MergeLog
    let queue: ChangeQueue
    let handled: HandledRows
    let rowValues: RowValues
    let recorder: ChangeRecorder
    let zones: ZoneFetch
    /// Records of rows that are inserted later in the transaction.
    var pendingAttaches: [YapCollectionKey: PendingAttach] = [:]
    /// Whether the current removal of all rows deletes the records in the cloud.
    private(set) var deletesRemovedRecords = false

    init(_ recorder: ChangeRecorder, _ zones: ZoneFetch) {
        cloudKit = recorder.cloudKit
        tables = recorder.tables
        log = recorder.log
        queue = recorder.queue
        handled = recorder.handled
        rowValues = recorder.rowValues
        self.recorder = recorder
        self.zones = zones
    }

    /// Keeps the object before a change, and the queued values that only the row has.
    func willChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert: break
        case .update(let row, _, _): try willChange(row, [.objectModified, .metadataModified])
        case .replaceObject(let row, _): try willChange(row, .objectModified)
        case .replaceMetadata(let row, _): try willChange(row, .metadataModified)
        case .touchObject(let row): try willChange(row, .objectTouched)
        case .touchMetadata(let row): try willChange(row, .metadataTouched)
        case .touchRow(let row): try willChange(row, [.objectTouched, .metadataTouched])
        case .remove(let rows): for row in rows { try willRemove(row) }
        case .removeAll: try rowValues.storeAllValues()
        }
    }

    private func willChange(
        _ row: YapDatabaseRowIdentity, _ kind: YapDatabaseCloudKitRecordHandler.Invocation
    ) throws {
        // The queued values of a row that is being merged are stored already.
        guard !handled.rowsInMerge.contains(row.rowID) else { return try rowValues.doubtValues(of: row) }
        guard handled.isHandled(row, kind) else { return try rowValues.storeValues(ofRow: row.rowID) }
        try rowValues.rememberValues(of: row, isAboutToChange: true)
        if kind.contains(.objectModified) { try handled.keepPreviousObject(row) }
    }

    private func willRemove(_ row: YapDatabaseRowIdentity) throws {
        guard let owner = try tables.records.record(ownedBy: row.rowID) else { return }
        try rowValues.storeValues(ofRow: row.rowID)
        if cloudKit.keepsDeletedFields { return try handled.keepPreviousObject(row) }
        try recorder.keepFormerRow(row, owner)
    }

    /// Records what changed.
    func didChange(_ change: YapDatabaseRowChange) throws {
        defer { handled.endChange() }
        switch change {
        case .insert(let row, let object, let metadata):
            try inserted(row, object, metadata)
        case .update(let row, let object, let metadata):
            try changed(row, [.objectModified, .metadataModified], object, metadata)
        case .replaceObject(let row, let object):
            try changed(row, .objectModified, object, nil)
        case .replaceMetadata(let row, let metadata):
            try changed(row, .metadataModified, nil, metadata)
        case .touchObject(let row):
            try changed(row, .objectTouched, nil, nil)
        case .touchMetadata(let row):
            try changed(row, .metadataTouched, nil, nil)
        case .touchRow(let row):
            try changed(row, [.objectTouched, .metadataTouched], nil, nil)
        case .remove(let rows):
            for row in rows { try removed(row) }
        case .removeAll:
            try removedAll()
        }
    }

    func inserted(_ row: YapDatabaseRowIdentity, _ object: any Sendable, _ metadata: (any Sendable)?) throws {
        guard cloudKit.isAllowed(row.collection) else { return }
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        if let attach = pendingAttaches.removeValue(forKey: name) {
            return try own(
                row, attach.record, attach.isUploaded ? try attach.record.changedFields() : nil,
                attach.database, isFromHandler: false, isUnknown: attach.isNew)
        }
        try handle(row, owner: nil, object: object, metadata: metadata)
    }

    func changed(
        _ row: YapDatabaseRowIdentity, _ kind: YapDatabaseCloudKitRecordHandler.Invocation,
        _ object: (any Sendable)?, _ metadata: (any Sendable)?
    ) throws {
        guard !handled.rowsInMerge.contains(row.rowID), handled.isHandled(row, kind) else { return }
        let owner = try tables.records.record(ownedBy: row.rowID)
        try handle(row, owner: owner, object: object, metadata: metadata)
    }

    func removed(_ row: YapDatabaseRowIdentity) throws {
        // Another row may get the same rowid at once.
        handled.rowsInMerge.remove(row.rowID)
        guard let owner = try tables.records.record(ownedBy: row.rowID) else { return }
        var fields: [String: Field] = [:]
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        if cloudKit.keepsDeletedFields, let object = handled.previousObjects[name] {
            fields = try handled.fullFields(row, owner, object: object, metadata: nil)?.fields ?? [:]
        }
        try disown(row.rowID, owner, isDeleted: true, lastFields: fields)
    }

    /// Calls the handler for a row and queues the result.
    func handle(
        _ row: YapDatabaseRowIdentity, owner: RecordRow?, object: (any Sendable)?, metadata: (any Sendable)?,
        versionInfo: (any Sendable)? = nil, previous: YapDatabaseExtensionRegistration? = nil,
        formerVersionTags: [String] = [], nilDetachesOnly: Bool = false
    ) throws {
        let before = try owner.map { try fieldsInTransaction($0) } ?? [:]
        // The values of an unreadable object are unknown, so all values of the new object are queued, as for a new row.
        let isAskedAnew = handled.unreadableRows.contains(row.rowID)
        var record = try isAskedAnew ? nil : owner.map { try $0.base() }
        record?.setFields(before)
        let (handed, parent) = (record, record?.parent)
        let info = YDBCKRecordInfo(
            databaseIdentifier: owner?.database.identifier, versionInfo: versionInfo,
            previousVersionTag: previous?.versionTag, formerVersionTags: formerVersionTags,
            hasMissedChanges: previous?.hasMissedCommits ?? false,
            previousObject: handled.previousObjects[
                YapCollectionKey(collection: row.collection, key: row.key)])
        try handled.call(&record, info, row, object: object, metadata: metadata)
        guard let record else {
            if let owner { try disown(row.rowID, owner, isDeleted: !nilDetachesOnly, lastFields: [:]) }
            return
        }
        // A row keeps its account, also if another user is signed in.
        let database = DatabaseKey(
            info.databaseIdentifier, account: try owner?.database.account ?? tables.accounts.currentAccount())
        let originals =
            try info.fields?.originals ?? fields(of: info.originalValues, in: record.recordID.zoneID)
        let said =
            try info.fields?.changed
            ?? (record === handed
                ? record.changedFields(handedOutWith: parent) : record.changedFields())
        if let owner, owner.recordID == record.recordID, owner.database == database {
            // Changes that the transaction queued before are kept: the row may not have all of their values.
            let changed = before.isEmpty ? said : said.filter { before[$0.key] != $0.value }
            return try recorder.queueSave(owner, changed, originals: originals, heldBy: row.rowID)
        }
        if let owner { try disown(row.rowID, owner, isDeleted: true, lastFields: [:]) }
        try own(row, record, said, database, isFromHandler: true)
    }

    private func fields(
        of values: [String: (any CKRecordValueProtocol)?], in zoneID: CKRecordZone.ID
    ) throws -> [String: Field] {
        try values.mapValues { value in
            guard let value else { return .cleared }
            return try Field(cloudValue: value, in: zoneID)
        }
    }

    /// Returns the record with the values that this transaction has changed so far.
    func recordInTransaction(_ row: RecordRow) throws -> CKRecord {
        let record = try row.base()
        record.setFields(try fieldsInTransaction(row))
        return record
    }

    /// Returns the values of a record that this transaction has changed so far.
    private func fieldsInTransaction(_ row: RecordRow) throws -> [String: Field] {
        guard let open = queue.openChangeSets[row.database], let change = try queue.openChange(open, row),
            change.kind == .save, change.id >= open.firstChange
        else { return [:] }
        return try rowValues.restored(change, of: row).fields
    }

    /// Runs the removal of all rows.
    /// - Parameter deletes: Whether it deletes in the cloud.
    func deletingRemovedRecords(_ deletes: Bool, _ body: () throws -> Void) rethrows {
        deletesRemovedRecords = deletes
        defer { deletesRemovedRecords = false }
        try body()
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (pendingAttaches, deletesRemovedRecords)
        return { [self] in (pendingAttaches, deletesRemovedRecords) = saved }
    }
}

extension YapDatabaseRowIdentity {
    /// Distinguishes the row from later rows with the same rowid: FNV-1a of the collection, a zero byte and the key.
    var nameHash: Int64 {
        var name = FNV1a()
        name.add(collection)
        name.add(0)
        name.add(key)
        return Int64(bitPattern: name.hash)
    }
}

internal import CloudKit
internal import CloudWire
internal import Yap

/// From changed rows to queued changes.
extension YapDatabaseCloudKitTransaction {
    // MARK: Changes of rows

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
        guard !rowsInMerge.contains(row.rowID), isHandled(row, kind) else { return }
        let owner = try tables.records.record(ownedBy: row.rowID)
        try handle(row, owner: owner, object: object, metadata: metadata)
    }

    func removed(_ row: YapDatabaseRowIdentity) throws {
        // The row's number may be another row's at once.
        rowsInMerge.remove(row.rowID)
        guard let owner = try tables.records.record(ownedBy: row.rowID) else { return }
        var fields: [String: Field] = [:]
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        if cloudKit.keepsDeletedFields, let object = previousObjects[name] {
            fields = try fullFields(row, owner, object: object, metadata: nil)?.fields ?? [:]
        }
        try disown(row.rowID, owner, isDeleted: true, lastFields: fields)
    }

    // MARK: The handler

    /// Asks the handler about a row and does what it says.
    private func handle(
        _ row: YapDatabaseRowIdentity, owner: RecordRow?, object: (any Sendable)?, metadata: (any Sendable)?,
        versionInfo: (any Sendable)? = nil, previous: YapDatabaseExtensionRegistration? = nil,
        formerVersionTags: [String] = [], nilDetachesOnly: Bool = false
    ) throws {
        let before = try owner.map { try fieldsInTransaction($0) } ?? [:]
        // What an object that can't be read held is unknown: the new one says everything, as that of a new row.
        let isAskedAnew = unreadableRows.contains(row.rowID)
        var record = try isAskedAnew ? nil : owner.map { try $0.base() }
        record?.setFields(before)
        let (handed, parent) = (record, record?.parent)
        let info = YDBCKRecordInfo(
            databaseIdentifier: owner?.database.identifier, versionInfo: versionInfo,
            previousVersionTag: previous?.versionTag, formerVersionTags: formerVersionTags,
            hasMissedChanges: previous?.hasMissedCommits ?? false,
            previousObject: previousObjects[YapCollectionKey(collection: row.collection, key: row.key)])
        try call(&record, info, row, object: object, metadata: metadata)
        guard let record else {
            if let owner { try disown(row.rowID, owner, isDeleted: !nilDetachesOnly, lastFields: [:]) }
            return
        }
        // A row stays with its account, whoever is signed in.
        let database = DatabaseKey(
            info.databaseIdentifier, account: try owner?.database.account ?? currentAccount())
        let originals =
            try info.fields?.originals ?? fields(of: info.originalValues, in: record.recordID.zoneID)
        let said =
            try info.fields?.changed
            ?? (record === handed
                ? record.changedFields(handedOutWith: parent) : record.changedFields())
        if let owner, owner.recordID == record.recordID, owner.database == database {
            // What the transaction said before stays as it was said: not all of it need be in the row.
            let changed = before.isEmpty ? said : said.filter { before[$0.key] != $0.value }
            return try queueSave(owner, changed, originals: originals, heldBy: row.rowID)
        }
        if let owner { try disown(row.rowID, owner, isDeleted: true, lastFields: [:]) }
        try own(row, record, said, database, isFromHandler: true)
    }

    func call(
        _ record: inout CKRecord?, _ info: YDBCKRecordInfo, _ row: YapDatabaseRowIdentity,
        object: (any Sendable)?, metadata: (any Sendable)?
    ) throws {
        func loadedObject() throws -> any Sendable {
            if let object { return object }
            if let object = try transaction.object(forKey: row.key, inCollection: row.collection) {
                return object
            }
            throw YapDatabaseCloudKitError.damaged(
                "the row \"\(row.key)\" of \"\(row.collection)\" is not there")
        }
        func loadedMetadata() throws -> (any Sendable)? {
            if let metadata { return metadata }
            let bytes = try transaction.serializedMetadata(forKey: row.key, inCollection: row.collection)
            guard bytes != nil else { return nil }
            return try transaction.metadata(forKey: row.key, inCollection: row.collection)
        }
        switch cloudKit.recordHandler.block {
        case .key(let block): try block(transaction, &record, info, row.collection, row.key)
        case .object(let block):
            try block(transaction, &record, info, row.collection, row.key, try loadedObject())
        case .metadata(let block):
            try block(transaction, &record, info, row.collection, row.key, try loadedMetadata())
        case .row(let block):
            try block(
                transaction, &record, info, row.collection, row.key, try loadedObject(), try loadedMetadata())
        }
    }

    private func fields(
        of values: [String: (any CKRecordValueProtocol)?], in zoneID: CKRecordZone.ID
    ) throws -> [String: Field] {
        try values.mapValues { value in
            guard let value else { return .cleared }
            return try Field(cloudValue: value, in: zoneID)
        }
    }

    /// The record with the values that this transaction has changed so far.
    func recordInTransaction(_ row: RecordRow) throws -> CKRecord {
        let record = try row.base()
        record.setFields(try fieldsInTransaction(row))
        return record
    }

    /// The values of a record that this transaction has changed so far.
    private func fieldsInTransaction(_ row: RecordRow) throws -> [String: Field] {
        guard let open = openChangeSets[row.database], let change = try openChange(open, row),
            change.kind == .save, change.id >= open.firstChange
        else { return [:] }
        return try restored(change, of: row).fields
    }

    /// Everything that a row says about its record, by asking the handler as for a new row.
    func fullFields(
        _ row: YapDatabaseRowIdentity, _ owner: RecordRow, object: (any Sendable)?, metadata: (any Sendable)?
    ) throws -> (fields: [String: Field], database: DatabaseKey)? {
        var record: CKRecord?
        let info = YDBCKRecordInfo(databaseIdentifier: owner.database.identifier)
        try call(&record, info, row, object: object, metadata: metadata)
        guard let record, record.recordID == owner.recordID else { return nil }
        return (
            try info.fields?.changed ?? record.changedFields(),
            DatabaseKey(info.databaseIdentifier, account: owner.database.account)
        )
    }

    // MARK: Owners

    /// Makes a row stand for a record.
    ///
    /// - Parameters:
    ///   - fields: The values to upload; nil uploads nothing.
    ///   - isUnknown: Whether it is known already that nothing is known of the record.
    func own(
        _ row: YapDatabaseRowIdentity, _ record: CKRecord, _ fields: [String: Field]?,
        _ database: DatabaseKey,
        isFromHandler: Bool, isUnknown: Bool = false
    ) throws {
        if fields != nil && record.recordChangeTag == nil {
            try RecordNames.check(record.recordID.recordName)
        }
        let life =
            try isUnknown
            ? JoinedLife(
                row: tables.records.insertOwnedRecord(
                    record, database, generation: 0, counts: partOfNew), isNew: true)
            : lifeForNewOwner(of: record, database)
        var owned = life.row
        if !life.isNew {
            owned.ownerCount += 1
            if fields == nil, let tag = record.recordChangeTag {
                owned.changeTag = tag
                owned.system = try record.systemBytes()
            }
            try tables.records.updateRecord(owned)
        }
        try tables.records.map(row.rowID, row.nameHash, to: owned.id)
        guard let fields else { return }
        // What the record had before it was deleted and made again, and hasn't now.
        let ended = life.formerKeys.filter { fields[$0.key] == nil }
        if !ended.isEmpty {
            try queueSave(
                owned, ended.mapValues { Field(value: nil, type: nil, isEncrypted: $0) },
                originals: life.originals)
        }
        try queueSave(
            owned, fields, originals: life.originals, heldBy: isFromHandler ? row.rowID : nil,
            isNew: life.isNew)
    }

    /// The life of a record that a row which begins to stand for it joins.
    private struct JoinedLife {
        var row: RecordRow
        /// Whether it begins with the row, which it counts already.
        var isNew = false
        /// If it was deleted in this transaction, what it had.
        var originals: [String: Field] = [:]
        /// The names of what it had then, and whether that was encrypted.
        var formerKeys: [String: Bool] = [:]
    }

    private func lifeForNewOwner(of record: CKRecord, _ database: DatabaseKey) throws -> JoinedLife {
        let lives = try tables.records.records(record.recordID, database)
        if let live = lives.last, live.ownerCount > 0 { return JoinedLife(row: live) }
        guard var last = lives.last else {
            return JoinedLife(
                row: try tables.records.insertOwnedRecord(record, database, generation: 0), isNew: true)
        }
        last.wantsDeletion = false
        let deletion = try tables.queue.changes(of: last.id).last { $0.kind == .delete }
        guard let deletion else { return JoinedLife(row: last) }
        if let open = openChangeSets[database], open.sequence == deletion.sequence,
            deletion.id >= open.firstChange
        {
            // Deleted in this very commit: to the server it was never gone, and this is a change of what it was.
            try remove(deletion)
            let former = try formerFields(of: last, deletion.fields)
            return JoinedLife(row: last, originals: former.originals, formerKeys: former.keys)
        }
        let next = try tables.records.insertOwnedRecord(record, database, generation: last.generation + 1)
        return JoinedLife(row: next, isNew: true)
    }

    /// A row no longer stands for its record.
    ///
    /// - Parameters:
    ///   - isDeleted: Whether this owner wants the record deleted on the server. It is when the last owner
    ///     goes, unless every one of them asked not to.
    ///   - lastFields: What the record held, as far as it is known.
    func disown(_ rowID: Int64, _ owner: RecordRow, isDeleted: Bool, lastFields: [String: Field]) throws {
        try storeValues(ofRow: rowID)
        try tables.records.unmap(rowID)
        guard var row = try tables.records.record(id: owner.id) else { return }
        row.ownerCount -= 1
        row.wantsDeletion = row.wantsDeletion || isDeleted
        try tables.records.updateRecord(row)
        guard row.ownerCount == 0 else { return }
        if row.wantsDeletion {
            try queueDelete(row, fields: lastFields)
        } else {
            try tables.records.removeRecordIfUnused(row.id)
        }
    }

    // MARK: Registration

    /// Calls the handler for every row, or for those of some collections.
    func populate(
        after previous: YapDatabaseExtensionRegistration? = nil, _ formerVersionTags: [String] = [],
        only some: Set<String>? = nil
    ) throws {
        isQueueTouched = true
        let collections = try transaction.allCollections().filter {
            cloudKit.isAllowed($0) && some?.contains($0) ?? true
        }
        for collection in collections {
            for row in Array(try transaction.identities(inCollection: collection)) {
                let owner = try tables.records.record(ownedBy: row.rowID)
                if owner != nil { try rememberValues(of: row, isAboutToChange: false) }
                try handle(
                    row, owner: owner, object: nil, metadata: nil, versionInfo: cloudKit.versionInfo,
                    previous: previous, formerVersionTags: formerVersionTags, nilDetachesOnly: true)
                if previous != nil, owner != nil { try giveBackWaiting(row) }
            }
        }
    }

    /// Gives a row what waits of its record, where the version before may have taken it away. Only where the queue
    /// holds all values itself: elsewhere the row is what is asked.
    private func giveBackWaiting(_ row: YapDatabaseRowIdentity) throws {
        guard let zoneHandler = cloudKit.runner.zoneHandler, cloudKit.options.storage == .values,
            let transaction = transaction as? YapDatabaseReadWriteTransaction,
            let owner = try tables.records.record(ownedBy: row.rowID)
        else { return }
        let waiting = try tables.queue.changes(of: owner.id).filter { $0.kind == .save }.reduce(into: [:]) {
            $0.merge($1.fields) { _, later in later }
        }
        guard !waiting.isEmpty else { return }
        try noteFetchedRows()
        rowsInMerge.insert(row.rowID)
        defer { rowsInMerge.remove(row.rowID) }
        try zoneHandler.giveBack(transaction, row.collection, row.key, waiting)
    }

    /// Queues the deletion of records whose rows went while the extension was not registered. Another row may have the
    /// number of one that went.
    func forgetVanishedRows() throws {
        for (rowID, nameHash) in try tables.records.mappedRows() {
            let identity = try transaction.identity(ofRowID: rowID)
            if let identity, nameHash == nil || nameHash == identity.nameHash { continue }
            if let owner = try tables.records.record(ownedBy: rowID) {
                try disown(rowID, owner, isDeleted: true, lastFields: [:])
            }
        }
    }
}

extension YapDatabaseRowIdentity {
    /// Tells the row from others that have its number later: FNV-1a of the collection, a zero and the key.
    var nameHash: Int64 {
        var name = FNV1a()
        name.add(collection)
        name.add(0)
        name.add(key)
        return Int64(bitPattern: name.hash)
    }
}

internal import CloudKit
internal import CloudWire
internal import Seams
public import Yap

/// The extension in one transaction: attach, detach, merge, look up.
///
/// What it writes goes straight into its tables, which are part of the app's transaction: a rollback takes it
/// away, and a lookup sees what the transaction has done so far.
public final class YapDatabaseCloudKitTransaction: YapDatabaseExtensionTransaction {
    struct PendingAttach {
        var record: CKRecord
        var database: DatabaseKey
        var isUploaded: Bool
    }

    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    unowned let transaction: YapDatabaseReadTransaction
    /// Records waiting for their row to be inserted.
    var pendingAttaches: [YapCollectionKey: PendingAttach] = [:]
    /// The change-sets of this commit.
    var openChangeSets: [DatabaseKey: Int64] = [:]
    /// Rows that the merge block is writing: what it writes is no local change.
    var rowsInMerge: Set<Int64> = []
    /// Objects before the change that is under way.
    var previousObjects: [YapCollectionKey: any Sendable] = [:]
    var log: [CloudMergeLogEntry] = []
    var isQueueTouched = false
    /// Whether the engine makes this transaction, and knows how the queue is after it.
    var isByEngine = false
    private var failure: (any Error)?

    init(
        _ cloudKit: YapDatabaseCloudKit, _ registeredName: String, _ texts: StatementTexts,
        _ transaction: YapDatabaseReadTransaction
    ) {
        self.cloudKit = cloudKit
        self.transaction = transaction
        tables = CloudKitTables(name: registeredName, sqlite: transaction.sqlite, texts: texts)
    }

    /// Runs a call of the app that writes. One that failed has done half: the transaction must fail with it,
    /// even if the app catches the error.
    func writing<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws -> Result {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseCloudKitError.readOnlyTransaction
        }
        do {
            return try body(transaction)
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    // MARK: Hooks

    /// Creates the tables, and walks all rows when the handler is new.
    public func register(previous: YapDatabaseExtensionRegistration?) throws {
        guard let previous else {
            try tables.create()
            return try populate()
        }
        guard previous.classVersion <= YapDatabaseCloudKit.classVersion else {
            throw YapDatabaseCloudKitError.unsupportedFormat(classVersion: previous.classVersion)
        }
        try tables.upgrade(from: previous.classVersion)
        if previous.hasMissedCommits { try forgetVanishedRows() }
        if previous.hasMissedCommits { return try populate() }
        if previous.versionTag != cloudKit.versionTag {
            try populate()
            // The server may hold values of new fields, from newer devices, that were left out here: with its tag
            // forgotten a record meets them before it is saved.
            if cloudKit.runner.zoneHandler != nil { try tables.forgetTagsOfChanged() }
        }
    }

    /// Keeps the object that a row is about to lose.
    public func willChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .update(let row, _, _), .replaceObject(let row, _): try keepPreviousObject(row)
        case .remove(let rows) where cloudKit.keepsDeletedFields:
            for row in rows { try keepPreviousObject(row) }
        default: break
        }
    }

    private func keepPreviousObject(_ row: YapDatabaseRowIdentity) throws {
        guard cloudKit.isAllowed(row.collection), !rowsInMerge.contains(row.rowID) else { return }
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        previousObjects[name] = try transaction.object(forKey: row.key, inCollection: row.collection)
    }

    /// Records what changed.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        defer { previousObjects = [:] }
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
            pendingAttaches = [:]
            try tables.removeAllMappings()
        }
    }

    /// Removes change-sets that came out empty.
    public func flushPendingChangesToExtensionTables() throws {
        if let failure { throw failure }
        pendingAttaches = [:]
        for database in openChangeSets.keys.sorted() {
            if let sequence = openChangeSets[database] { try tables.removeChangeSetIfEmpty(sequence) }
        }
        openChangeSets = [:]
        for index in log.indices { try tables.insert(&log[index]) }
    }

    /// Tells the engine, and other processes.
    public func didCommit(snapshot: UInt64) {
        cloudKit.runner.ring(snapshot: snapshot)
        if isQueueTouched || !log.isEmpty {
            cloudKit.runner.committed(log, isByEngine: isByEngine)
        }
    }

    // MARK: Accounts

    /// One of the databases that the app means: of the current account.
    func databaseKey(_ identifier: String?) throws -> DatabaseKey {
        DatabaseKey(identifier, account: try tables.currentAccount())
    }

    // MARK: Queue

    /// The change-set of this commit for a database.
    func changeSet(_ database: DatabaseKey) throws -> Int64 {
        if let sequence = openChangeSets[database] { return sequence }
        let sequence = try tables.insertChangeSet(uuid: cloudKit.random.nextUUID(), database)
        openChangeSets[database] = sequence
        return sequence
    }

    /// Takes a change out of the queue, and its change-set when that was the last of it.
    func remove(_ change: ChangeRow) throws {
        isQueueTouched = true
        try tables.removeChange(change)
        if !openChangeSets.values.contains(change.sequence) {
            try tables.removeChangeSetIfEmpty(change.sequence)
        }
    }

    /// Puts changed values into this commit's change-set. Of two values of a key the later wins, of two
    /// originals the earlier.
    func queueSave(_ row: RecordRow, _ fields: [String: Field], originals: [String: Field]) throws {
        guard !fields.isEmpty else { return }
        isQueueTouched = true
        var fields = fields
        var originals = originals
        // A refused change goes along with the new one, which may be its cure.
        for refused in try tables.refusedChanges(of: row.id) {
            logSuperseded(refused, row, by: fields)
            if refused.kind == .save {
                fields.merge(refused.fields) { new, _ in new }
                originals.merge(refused.originals) { _, old in old }
            }
            try remove(refused)
        }
        let sequence = try changeSet(row.database)
        if var change = try tables.change(sequence, row.id) {
            if change.kind == .delete { change.fields = [:] }
            change.kind = .save
            change.fields.merge(fields) { _, new in new }
            change.originals.merge(originals) { old, _ in old }
            try tables.updateChange(change)
        } else {
            try tables.insertChange(sequence, row.id, .save, fields: fields, originals: originals)
        }
    }

    /// Puts a deletion into this commit's change-set. A record that this very commit made is simply
    /// forgotten.
    ///
    /// - Parameter fields: What the record held, as far as it is known.
    func queueDelete(_ row: RecordRow, fields: [String: Field]) throws {
        isQueueTouched = true
        for refused in try tables.refusedChanges(of: row.id) {
            logSuperseded(refused, row, by: [:])
            try remove(refused)
        }
        let sequence = try changeSet(row.database)
        if let change = try tables.change(sequence, row.id) {
            try remove(change)
            let isKnownToServer = try row.changeTag != nil || !tables.changes(of: row.id).isEmpty
            if !isKnownToServer { return try tables.removeRecordIfUnused(row.id) }
        }
        try tables.insertChange(sequence, row.id, .delete, fields: fields, originals: [:])
    }

    /// Takes everything that waits for a record out of the queue.
    func purge(_ row: RecordRow, rule: CloudMergeLogEntry.Rule) throws {
        for change in try tables.changes(of: row.id) {
            if change.kind == .save {
                for (key, field) in change.fields.sorted(by: { $0.key < $1.key }) {
                    logDrop(row, key, rule, dropped: field, kept: nil)
                }
            }
            try remove(change)
        }
    }

    // MARK: Log

    func logDrop(
        _ row: RecordRow, _ key: String?, _ rule: CloudMergeLogEntry.Rule, dropped: Field?, kept: Field?
    ) {
        log.append(
            CloudMergeLogEntry(
                recordID: row.recordID, field: key, rule: rule, droppedValue: dropped?.value,
                keptValue: kept?.value))
    }

    /// Notes the values of a change that newer values of this device replace before it was sent.
    func logSuperseded(_ change: ChangeRow, _ row: RecordRow, by fields: [String: Field]) {
        guard change.kind == .save else { return }
        for (key, field) in change.fields.sorted(by: { $0.key < $1.key }) {
            if let newer = fields[key], newer.says(field) { continue }
            if fields.isEmpty || fields[key] != nil {
                logDrop(row, key, .superseded, dropped: field, kept: fields[key])
            }
        }
    }
}

internal import CloudKit
internal import CloudWire
internal import System
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
        /// Whether nothing is known of the record.
        var isNew = false
    }

    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    unowned let transaction: YapDatabaseReadTransaction
    /// Records waiting for their row to be inserted.
    var pendingAttaches: [YapCollectionKey: PendingAttach] = [:]
    /// The change-sets of this commit.
    var openChangeSets: [DatabaseKey: OpenChangeSet] = [:]
    /// Values that rows hold for the queue, as far as this transaction queued them or asked for them.
    var valuesInTransaction = RestoredValues()
    /// What the changes of this commit refer to.
    var links = ChangeLinks()
    /// The copies of files that this transaction makes and no longer needs.
    var assets = StagedAssets()
    /// Whether what waits for files has to be looked at again.
    var liftsMissingFiles = false
    /// The current account, once it was asked for.
    var account: Int64?
    /// The records whose changes this transaction put into the queue.
    var queuedRecords: Set<Int64> = []
    /// The number of the newest change, once it was asked for.
    var lastChange: Int64?
    /// Rows that the merge block is writing: what it writes is no local change.
    var rowsInMerge: Set<Int64> = []
    /// Rows that could not give back a value when the queue was to store it.
    var unrestoredRows: Set<Int64> = []
    /// The rows that this transaction removed, by the lives of their records: what is made again must end what it
    /// lacks.
    var formerRows: [Int64: [FormerRow]] = [:]
    /// Objects before the change that is under way.
    var previousObjects: [YapCollectionKey: any Sendable] = [:]
    /// Rows whose object before the change that is under way can't be read.
    var unreadableRows: Set<Int64> = []
    /// Values of earlier commits that a change of this one took over, by the lives of their records.
    var takenOver: [Int64: [String: Field?]] = [:]
    var log: [CloudMergeLogEntry] = []
    var isQueueTouched = false
    /// Whether the removal of all rows that is under way deletes in the cloud.
    var deletesRemovedRecords = false
    /// Whether the engine makes this transaction, and knows how the queue is after it.
    var isByEngine = false
    /// What a record that is attached as new adds to its zone's checksum.
    var partOfNew: ZoneChecksum?
    /// What the last page of a zone's changes told of its checksum, and what is here.
    var comparison: ZoneComparison?
    var failure: (any Error)?

    init(
        _ cloudKit: YapDatabaseCloudKit, _ registeredName: String, _ texts: StatementTexts?,
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

    /// Whether the transaction can write.
    var isWriting: Bool { transaction is YapDatabaseReadWriteTransaction }

    // MARK: Hooks

    /// Creates the tables, and walks all rows when the handler is new.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        // The numbers of changes begin anew with new tables, and a crash may have left copies of files to the old ones.
        cloudKit.restored.withLock { $0 = RestoredValues() }
        assets.collectsOrphans = true
        guard let previous else {
            try tables.create()
            try populate()
            return .isComplete
        }
        guard previous.classVersion <= YapDatabaseCloudKit.classVersion else {
            throw YapDatabaseCloudKitError.unsupportedFormat(classVersion: previous.classVersion)
        }
        try tables.upgrade(from: previous.classVersion)
        // Earlier versions of this library didn't note it.
        if try tables.hasFetched() { try noteFetching() }
        try setFetchedParts()
        // A file may have come, or an object gone, while nothing looked.
        try tables.queue.liftRefusals(code: MissingFiles.refusal)
        if previous.hasMissedCommits { try forgetVanishedRows() }
        let isAnotherVersion = previous.versionTag != cloudKit.versionTag
        if isAnotherVersion {
            try tables.registrations.noteFormerVersionTag(previous.versionTag)
            // This version's handler may give back, and its merge block bring together, what an earlier one could not.
            try dropLostValues()
            try tables.queue.liftRefusals(code: QueueTables.unrestorableRefusal)
            try tables.queue.liftRefusals(code: QueueTables.stuckRefusal)
        }
        guard previous.hasMissedCommits || isAnotherVersion else { return .isComplete }
        let zoneHandler = cloudKit.runner.zoneHandler
        let formerVersionTags = try tables.registrations.formerVersionTags()
        let collections = zoneHandler?.collectionsWithNewFields(previous.versionTag, formerVersionTags)
        try populate(
            after: previous, formerVersionTags, only: previous.hasMissedCommits ? nil : collections)
        // The server may have these values already: they are held against it before later ones are.
        for open in openChangeSets.values { try tables.queue.setInFlight(open.sequence, false) }
        if isAnotherVersion, zoneHandler != nil { try fetchLeftOutFields(addsOnly: collections != nil) }
        return .isComplete
    }

    /// The server may have values of new fields, from other devices, that the version before left out. They are
    /// fetched, and merged with those of the rows, before anything is sent.
    ///
    /// - Parameter addsOnly: Whether this version has all fields of the one before.
    private func fetchLeftOutFields(addsOnly: Bool) throws {
        try tables.records.forgetRowHashes()
        for (zoneID, database) in try tables.knownZones() {
            if try addsOnly && tables.tokens.knowsUnreadFields(zoneID, database) {
                try beginFetchOfNewFields(zoneID, database)
            } else {
                let isReset = try tables.tokens.fullFetch(zoneID, database) == .reset
                try beginFullFetch(zoneID, database, isReset ? .reset : .upgrade)
            }
        }
    }

    /// Keeps the object that a row is about to lose, and the values that the queue has only there.
    public func willChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert: break
        case .update(let row, _, _): try willChange(row, [.objectModified, .metadataModified])
        case .replaceObject(let row, _): try willChange(row, .objectModified)
        case .replaceMetadata(let row, _): try willChange(row, .metadataModified)
        case .touchObject(let row): try willChange(row, .objectTouched)
        case .touchMetadata(let row): try willChange(row, .metadataTouched)
        case .touchRow(let row): try willChange(row, [.objectTouched, .metadataTouched])
        case .remove(let rows): for row in rows { try willRemove(row) }
        case .removeAll: try storeAllValues()
        }
    }

    private func willChange(
        _ row: YapDatabaseRowIdentity, _ kind: YapDatabaseCloudKitRecordHandler.Invocation
    ) throws {
        // What was queued of a row that is merged just now is stored already.
        guard !rowsInMerge.contains(row.rowID) else { return try doubtValues(of: row) }
        guard isHandled(row, kind) else { return try storeValues(ofRow: row.rowID) }
        try rememberValues(of: row, isAboutToChange: true)
        if kind.contains(.objectModified) { try keepPreviousObject(row) }
    }

    private func willRemove(_ row: YapDatabaseRowIdentity) throws {
        guard let owner = try tables.records.record(ownedBy: row.rowID) else { return }
        try storeValues(ofRow: row.rowID)
        if cloudKit.keepsDeletedFields { return try keepPreviousObject(row) }
        try keepFormerRow(row, owner)
    }

    /// Whether the record handler hears of such a change.
    func isHandled(
        _ row: YapDatabaseRowIdentity, _ kind: YapDatabaseCloudKitRecordHandler.Invocation
    ) -> Bool {
        cloudKit.isAllowed(row.collection) && !cloudKit.recordHandler.invocation.isDisjoint(with: kind)
    }

    private func keepPreviousObject(_ row: YapDatabaseRowIdentity) throws {
        guard cloudKit.isAllowed(row.collection), !rowsInMerge.contains(row.rowID) else { return }
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        do {
            previousObjects[name] = try transaction.object(forKey: row.key, inCollection: row.collection)
        } catch let error as YapDatabaseError where error.isAboutTheObject {
            // It can be replaced and removed all the same.
            unreadableRows.insert(row.rowID)
        }
    }

    /// Records what changed.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        defer {
            previousObjects = [:]
            unreadableRows = []
        }
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

    /// Removes change-sets that came out empty.
    public func flushPendingChangesToExtensionTables() throws {
        if let failure { throw failure }
        pendingAttaches = [:]
        for database in openChangeSets.keys.sorted() {
            if let open = openChangeSets[database] { try tables.queue.removeChangeSetIfEmpty(open.sequence) }
        }
        openChangeSets = [:]
        for sequence in links.sequences { try tables.queue.sort(sequence, links) }
        links = ChangeLinks()
        try liftMissingFiles()
        try settleAssets()
        for index in log.indices { try tables.log.insert(&log[index]) }
    }

    /// Tells the engine, and other processes.
    public func didCommit(snapshot: UInt64) {
        removeAssets(assets.unused)
        let queued = valuesInTransaction.all
        if !queued.isEmpty {
            cloudKit.restored.withLock { for (change, fields) in queued { $0.add(fields, of: change) } }
        }
        cloudKit.runner.notifyOtherProcesses(snapshot: snapshot)
        if isQueueTouched || !log.isEmpty {
            cloudKit.runner.committed(log, isByEngine: isByEngine)
        }
    }

    // MARK: Accounts

    /// One of the databases that the app means: of the current account.
    func databaseKey(_ identifier: String?) throws -> DatabaseKey {
        DatabaseKey(identifier, account: try currentAccount())
    }

    /// The current account, read once a transaction.
    func currentAccount() throws -> Int64 {
        if let account { return account }
        let current = try tables.accounts.currentAccount()
        account = current
        return current
    }
}

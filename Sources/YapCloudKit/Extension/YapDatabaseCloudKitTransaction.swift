internal import System
public import Yap

/// The extension in one transaction: attach, detach, merge, look up.
///
/// What it writes goes straight into its tables, which are part of the app's transaction: a rollback takes it
/// away, and a lookup sees what the transaction has done so far.
public final class YapDatabaseCloudKitTransaction: YapDatabaseExtensionTransaction {
    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    let log: MergeLog
    let staged: StagedFiles
    let queue: ChangeQueue
    let handled: HandledRows
    let rowValues: RowValues
    let recorder: ChangeRecorder
    let zones: ZoneFetch
    let tracker: RowTracker
    private unowned let transaction: YapDatabaseReadTransaction
    /// Whether the engine makes this transaction, and knows how the queue is after it.
    var isByEngine = false
    private var failure: (any Error)?

    init(
        _ cloudKit: YapDatabaseCloudKit, _ registeredName: String, _ texts: StatementTexts?,
        _ transaction: YapDatabaseReadTransaction
    ) {
        self.cloudKit = cloudKit
        self.transaction = transaction
        tables = CloudKitTables(name: registeredName, sqlite: transaction.sqlite, texts: texts)
        log = MergeLog(tables.log)
        staged = StagedFiles(cloudKit, tables)
        queue = ChangeQueue(
            cloudKit, tables, staged, isWriting: transaction is YapDatabaseReadWriteTransaction)
        handled = HandledRows(cloudKit, tables, transaction)
        rowValues = RowValues(log, queue, handled)
        recorder = ChangeRecorder(log, queue, handled, rowValues, staged)
        zones = ZoneFetch(cloudKit, tables, transaction)
        tracker = RowTracker(recorder, zones)
    }

    // These keep nothing of the transaction.
    var merges: RemoteMerge { RemoteMerge(tracker: tracker) }
    var results: UploadResults { UploadResults(tracker: tracker, merges: merges) }
    var batches: BatchBuilder {
        BatchBuilder(tables: tables, queue: queue, rowValues: rowValues, zones: zones)
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

    /// Keeps the object that a row is about to lose, and the values that the queue has only there.
    public func willChange(_ change: YapDatabaseRowChange) throws {
        try tracker.willChange(change)
    }

    /// Records what changed.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        try tracker.didChange(change)
    }

    /// Creates the tables, and walks all rows when the handler is new.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        // The numbers of changes begin anew with new tables, and a crash may have left copies of files to the old ones.
        cloudKit.restored.withLock { $0 = RestoredValues() }
        staged.collectsOrphans = true
        guard let previous else {
            try tables.create()
            try tracker.populate()
            return .isComplete
        }
        guard previous.classVersion <= YapDatabaseCloudKit.classVersion else {
            throw YapDatabaseCloudKitError.unsupportedFormat(classVersion: previous.classVersion)
        }
        try tables.upgrade(from: previous.classVersion)
        // Earlier versions of this library didn't note it.
        if try tables.hasFetched() { try zones.noteFetching() }
        try zones.setFetchedParts()
        // A file may have come, or an object gone, while nothing looked.
        try tables.queue.liftQuarantine(code: MissingFiles.quarantineCode)
        if previous.hasMissedCommits { try tracker.forgetVanishedRows() }
        let isAnotherVersion = previous.versionTag != cloudKit.versionTag
        if isAnotherVersion {
            try tables.registrations.noteFormerVersionTag(previous.versionTag)
            // This version's handler may give back, and its merge block bring together, what an earlier one could not.
            try rowValues.dropLostValues()
            try tables.queue.liftQuarantine(code: QueueTables.unrestorableCode)
            try tables.queue.liftQuarantine(code: QueueTables.stuckCode)
        }
        guard previous.hasMissedCommits || isAnotherVersion else { return .isComplete }
        let zoneHandler = cloudKit.runner.zoneHandler
        let formerVersionTags = try tables.registrations.formerVersionTags()
        let collections = zoneHandler?.collectionsWithNewFields(previous.versionTag, formerVersionTags)
        try tracker.populate(
            after: previous, formerVersionTags, only: previous.hasMissedCommits ? nil : collections)
        // The server may have these values already: they are held against it before later ones are.
        for open in queue.openChangeSets.values { try tables.queue.setInFlight(open.sequence, false) }
        if isAnotherVersion, zoneHandler != nil { try zones.fetchLeftOutFields(addsOnly: collections != nil) }
        return .isComplete
    }

    /// Removes change-sets that came out empty.
    public func flushPendingChangesToExtensionTables() throws {
        if let failure { throw failure }
        tracker.pendingAttaches = [:]
        try queue.close()
        if queue.isTouched || isByEngine, try staged.liftMissingFiles() {
            queue.touch()
            // The engine counted before that.
            isByEngine = false
        }
        try staged.settle(isQueueTouched: queue.isTouched)
        try log.store()
    }

    /// Tells the engine, and other processes.
    public func didCommit(snapshot: UInt64) {
        staged.didCommit()
        queue.didCommit()
        cloudKit.runner.notifyOtherProcesses(snapshot: snapshot)
        if queue.isTouched || !log.entries.isEmpty {
            cloudKit.runner.committed(log.entries, isByEngine: isByEngine)
        }
    }

    /// Nothing of the transaction is kept.
    public func didRollback() {
        staged.didRollback()
    }

    /// Notes everything that the owners keep in memory. Copies of files that are made after this are removed when the
    /// savepoint fails.
    public func makeRestorePoint() throws -> () -> Void {
        let restores = [
            tables.accounts.makeRestorePoint(), log.makeRestorePoint(), staged.makeRestorePoint(),
            queue.makeRestorePoint(), handled.makeRestorePoint(), rowValues.makeRestorePoint(),
            recorder.makeRestorePoint(), zones.makeRestorePoint(), tracker.makeRestorePoint(),
        ]
        let saved = (isByEngine, failure)
        return { [self] in
            for restore in restores { restore() }
            (isByEngine, failure) = saved
        }
    }

    // MARK: Accounts

    /// One of the databases that the app means: of the current account.
    func databaseKey(_ identifier: String?) throws -> DatabaseKey {
        DatabaseKey(identifier, account: try tables.accounts.currentAccount())
    }
}

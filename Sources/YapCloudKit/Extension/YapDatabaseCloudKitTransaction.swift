internal import System
public import Yap

/// The extension in one transaction: attach, detach, merge, look up.
///
/// It writes its tables directly, in the app's transaction. A rollback undoes these writes, and a lookup sees the
/// transaction's own changes.
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
    /// Number of the sync's start that was in effect when the transaction began.
    private let syncStart: Int
    /// Whether the engine's adapter makes this transaction, and counts the queue itself.
    var isByEngine = false
    private var failure: (any Error)?

    init(
        _ cloudKit: YapDatabaseCloudKit, _ registeredName: String, _ texts: StatementTexts?,
        _ transaction: YapDatabaseReadTransaction
    ) {
        self.cloudKit = cloudKit
        self.transaction = transaction
        syncStart = cloudKit.runner.session.start
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

    // These have no state.
    var merges: RemoteMerge { RemoteMerge(tracker: tracker) }
    var results: UploadResults { UploadResults(tracker: tracker, merges: merges) }
    var batches: BatchBuilder {
        BatchBuilder(tables: tables, queue: queue, rowValues: rowValues, zones: zones)
    }

    /// Runs a call of the app that writes. If it fails, it may have written a part, so the transaction must fail too,
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

    /// Keeps the object of a row that is about to change, and the queued values that only the row has.
    public func willChange(_ change: YapDatabaseRowChange) throws {
        try tracker.willChange(change)
    }

    /// Records what changed.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        try tracker.didChange(change)
    }

    /// Creates or upgrades the tables. Calls the handler for all rows if its version is new.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        // New tables number changes from 1 again, and a crash may have left unused copies of files.
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
        // A missing file may have been fetched, or an object removed, while the extension was not registered.
        try tables.queue.liftQuarantine(code: MissingFiles.quarantineCode)
        if previous.hasMissedCommits { try tracker.forgetVanishedRows() }
        let isAnotherVersion = previous.versionTag != cloudKit.versionTag
        if isAnotherVersion {
            try tables.registrations.noteFormerVersionTag(previous.versionTag)
            // This version's handler may restore values, and its merge block may solve conflicts, that an earlier one
            // couldn't.
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
        // The server may have these values already, so later changes aren't folded into them.
        for open in queue.openChangeSets.values { try tables.queue.setInFlight(open.sequence, false) }
        if isAnotherVersion, zoneHandler != nil { try zones.fetchLeftOutFields(addsOnly: collections != nil) }
        return .isComplete
    }

    /// Removes empty change-sets, and stores the log.
    public func flushPendingChangesToExtensionTables() throws {
        if let failure { throw failure }
        tracker.pendingAttaches = [:]
        try queue.close()
        if queue.isTouched || isByEngine, try staged.liftMissingFiles() {
            queue.touch()
            // The adapter counted before that.
            isByEngine = false
        }
        try staged.settle(isQueueTouched: queue.isTouched)
        try log.store()
    }

    /// Notifies the engine and other processes.
    public func didCommit(snapshot: UInt64) {
        staged.didCommit()
        queue.didCommit()
        cloudKit.runner.notifyOtherProcesses(snapshot: snapshot)
        if queue.isTouched || !log.entries.isEmpty {
            cloudKit.runner.committed(log.entries, isByEngine: isByEngine, start: syncStart)
        }
    }

    /// Deletes copies of files that the transaction made.
    public func didRollback() {
        staged.didRollback()
    }

    /// Returns a closure that restores the state of all owners. It also removes copies of files that were made after
    /// this.
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

    /// Returns the key of one of the current account's databases.
    func databaseKey(_ identifier: String?) throws -> DatabaseKey {
        DatabaseKey(identifier, account: try tables.accounts.currentAccount())
    }
}

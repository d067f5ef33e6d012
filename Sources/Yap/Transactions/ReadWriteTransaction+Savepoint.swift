import SQLite

extension YapDatabaseReadWriteTransaction {
    /// Runs a part of the transaction that can fail by itself. If `body` throws, everything that it wrote is undone,
    /// and the transaction continues as if `body` had not run.
    ///
    /// ```swift
    /// for line in lines {
    ///     do {
    ///         try transaction.savepoint { try add(line, in: transaction) }
    ///     } catch {
    ///         rejected.append(line)
    ///     }
    /// }
    /// ```
    ///
    /// Savepoints may be nested. They don't wait for the disk: their changes are committed with the transaction.
    /// `rollback()` inside a savepoint discards the whole transaction.
    ///
    /// - Parameter body: Writes with this transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`. `YapDatabaseError`: `savepointUnsupported`, before `body` runs, if a registered
    ///   extension can't undo its state in memory; the error of an iteration in `body` that ended early. After an
    ///   error that ends the whole transaction, such as `diskFull`, each later call throws too.
    @discardableResult
    public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        let point = try RestorePoint(self)
        changes = CommitChanges()
        do {
            let result = try store.sqlite.savepoint("app") {
                let result = try body()
                if let error = failure ?? store.lostTransaction ?? iterationError { throw error }
                return result
            }
            point.keep(in: self)
            return result
        } catch {
            let thrown = (error as? SQLiteError).map { store.noted($0) } ?? error
            point.restore(self)
            throw thrown
        }
    }
}

/// State in memory of a transaction when a savepoint begins.
private struct RestorePoint {
    private let changes: CommitChanges
    private let propertyNames: PropertyNames.State
    private let mutations: MutationCounter
    private let undoneCount: Int
    private let totalChangesCount: Int
    private let iterationError: (any Error)?
    private let commitInfo: (any Sendable)?
    private let completionsCount: Int
    private let restoreExtensions: [() -> Void]

    init(_ transaction: YapDatabaseReadWriteTransaction) throws {
        restoreExtensions = try transaction.uses().map { try $0.transaction.makeRestorePoint() }
        changes = transaction.changes
        propertyNames = transaction.propertyNames.state
        mutations = transaction.mutations
        undoneCount = transaction.undoneCount
        totalChangesCount = transaction.store.sqlite.totalChangesCount
        iterationError = transaction.iterationError
        commitInfo = transaction.commitInfo
        completionsCount = transaction.attachments?.completionsCount ?? 0
    }

    /// Adds the changes since the savepoint to those from before it.
    func keep(in transaction: YapDatabaseReadWriteTransaction) {
        let later = transaction.changes
        transaction.changes = changes
        transaction.changes.append(later, keysMax: transaction.store.changedKeysPerCommitMax)
    }

    /// Restores the state in memory. The rows and tables are restored already.
    func restore(_ transaction: YapDatabaseReadWriteTransaction) {
        let store = transaction.store
        store.undo(transaction.changes)
        // The undone part may have recorded which extensions miss these changes.
        store.missedChangeLog.reset()
        transaction.changes = changes
        transaction.propertyNames.state = propertyNames
        transaction.mutations = mutations
        transaction.undoneCount = undoneCount + store.sqlite.totalChangesCount - totalChangesCount
        transaction.iterationError = iterationError
        transaction.commitInfo = commitInfo
        transaction.attachments?.keepCompletions(completionsCount)
        for restore in restoreExtensions { restore() }
        // SQLite has rolled the whole transaction back, so no later call may write.
        transaction.failure =
            store.sqlite.isInTransaction
            ? nil
            : store.lostTransaction ?? YapDatabaseError(.sqlite, "SQLite rolled the transaction back")
    }
}

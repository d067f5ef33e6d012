/// An extension in one transaction. All calls come from the thread of the transaction.
///
/// A method that throws fails the whole transaction: nothing of it is kept.
public protocol YapDatabaseExtensionTransaction: AnyObject {
    /// Creates or upgrades the extension's tables. Called in the transaction that registers it, and again when another
    /// process wrote without the extension while it was filled and the rows are unknown.
    ///
    /// - Parameter previous: What was stored under the name, or `nil`: new, or another class (its tables are
    ///   gone).
    /// - Returns: What the tables have now.
    func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent

    /// Adds rows to the tables. Called again and again, each time in a transaction of its own, between which others
    /// write: `willChange` and `didChange` are called for rows that were handed over, and for no others. `willChange`
    /// isn't called for rows that are inserted meanwhile. Nobody reads the extension until it is complete.
    ///
    /// After a crash the next registration may go on where this ended. An extension that catches up gets rows here too,
    /// each after a `didChange(.remove(…))`: see `YapDatabaseExtension.catchesUp`.
    ///
    /// - Parameter rows: At most `YapDatabaseExtensionRegistration.filledRowsMax` rows, in the order of their rowids.
    func fill(_ rows: [YapDatabaseStoredRow]) throws

    /// Called before a row changes: the transaction still reads the old values.
    func willChange(_ change: YapDatabaseRowChange) throws

    /// Called after a row changed, in the order in which the extensions were registered.
    func didChange(_ change: YapDatabaseRowChange) throws

    /// Called at the end of the closure: the last place to change rows (other extensions see these changes).
    /// Called on all extensions again and again until none changes a row. Also called at both ends of a group of an
    /// undo log, and by undo and redo.
    func flushPendingChangesToMainDatabaseTable() throws

    /// Called after that: writes what the transaction collected into the extension's own tables. No rows
    /// change now.
    func flushPendingChangesToExtensionTables() throws

    /// Returns what the transaction changed, for the caches of other connections, for observations and for
    /// `YapDatabaseCommit.changes(ofExtension:)`; nil for no change. Called after the flushes.
    ///
    /// The last commits are kept in memory. Changes that grow with the transaction conform to
    /// `YapDatabaseCountedChanges`, and name at most `YapDatabaseOptions.changedKeysPerCommitMax` things.
    func changesForConnections() -> (any Sendable)?

    /// Called before a savepoint of the app (`YapDatabaseReadWriteTransaction.savepoint(_:)`), which may undo what
    /// follows.
    ///
    /// ```swift
    /// func makeRestorePoint() throws -> () -> Void {
    ///     let counts = counts
    ///     return { self.counts = counts }
    /// }
    /// ```
    ///
    /// - Returns: A closure that brings what the object keeps in memory back to what it is now. It is called only when
    ///   the savepoint failed, after SQLite has brought the tables back and after the connection's `dropCaches()`. It
    ///   runs no statement. `{}` if the object keeps nothing in memory.
    /// - Throws: `savepointUnsupported` by default. The savepoint then fails before it has begun.
    func makeRestorePoint() throws -> () -> Void

    /// Called after COMMIT, while the database's writer is still held: keep it short, begin no transaction. The
    /// extension's own transaction has ended: calls on it throw.
    func didCommit(snapshot: UInt64)

    /// Called when the transaction failed or was rolled back, before or at COMMIT.
    func didRollback()
}

/// Changes of an extension that count against the memory of kept commits.
public protocol YapDatabaseCountedChanges: Sendable {
    /// Number of changed rows, or of things of that size.
    var count: Int { get }
}

extension YapDatabaseExtensionTransaction {
    /// Does nothing.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {}
    /// Does nothing.
    public func willChange(_ change: YapDatabaseRowChange) throws {}
    /// Does nothing.
    public func didChange(_ change: YapDatabaseRowChange) throws {}
    /// Does nothing.
    public func flushPendingChangesToMainDatabaseTable() throws {}
    /// Does nothing.
    public func flushPendingChangesToExtensionTables() throws {}
    /// Nothing to hand over.
    public func changesForConnections() -> (any Sendable)? { nil }
    /// Throws `savepointUnsupported`.
    public func makeRestorePoint() throws -> () -> Void {
        throw YapDatabaseError(.savepointUnsupported, "\(Self.self) has no makeRestorePoint()")
    }
    /// Does nothing.
    public func didCommit(snapshot: UInt64) {}
    /// Does nothing.
    public func didRollback() {}
}

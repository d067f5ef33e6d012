/// An extension in one transaction. All calls are made on the thread of the transaction.
///
/// A method that throws fails the whole transaction: nothing of it is kept.
public protocol YapDatabaseExtensionTransaction: AnyObject {
    /// Creates or upgrades the extension's tables. Called in the transaction that registers it, and again if another
    /// process wrote unknown rows without the extension while it was being filled.
    ///
    /// - Parameter previous: The stored registration under the name. Nil if there is none, or one of another class
    ///   (its tables have been dropped).
    /// - Returns: The current content of the tables.
    func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent

    /// Adds rows to the tables. Called repeatedly, each time in a transaction of its own, between which others write:
    /// `willChange` and `didChange` are called for rows that were handed over, and for no others. `willChange` isn't
    /// called for rows that are inserted meanwhile. The extension can't be read until it is complete.
    ///
    /// After a crash the next registration may continue where this ended. An extension that catches up gets rows here
    /// too, each after a `didChange(.remove(…))`: see `YapDatabaseExtension.catchesUp`.
    ///
    /// - Parameter rows: Up to `YapDatabaseExtensionRegistration.filledRowsMax` rows, in the order of their rowids.
    func fill(_ rows: [YapDatabaseStoredRow]) throws

    /// Called before a row changes. The transaction still returns the old values.
    func willChange(_ change: YapDatabaseRowChange) throws

    /// Called after a row changed, in the order in which the extensions were registered.
    func didChange(_ change: YapDatabaseRowChange) throws

    /// Called at the end of the closure: the last chance to change rows (other extensions receive these changes).
    /// Called on all extensions repeatedly until none changes a row. Also called at both ends of a group of an undo
    /// log, and by undo and redo.
    func flushPendingChangesToMainDatabaseTable() throws

    /// Called after that, to write collected changes to the extension's own tables. No more rows change.
    func flushPendingChangesToExtensionTables() throws

    /// Returns the changes of the transaction, for the caches of other connections, for observations and for
    /// `YapDatabaseCommit.changes(ofExtension:)`. Nil if there are none. Called after the flushes.
    ///
    /// The last commits are kept in memory. Changes that grow with the transaction should conform to
    /// `YapDatabaseCountedChanges`, and name up to `YapDatabaseOptions.changedKeysPerCommitMax` items.
    func changesForConnections() -> (any Sendable)?

    /// Called before a savepoint of the app (`YapDatabaseReadWriteTransaction.savepoint(_:)`), which may undo later
    /// changes.
    ///
    /// ```swift
    /// func makeRestorePoint() throws -> () -> Void {
    ///     let counts = counts
    ///     return { self.counts = counts }
    /// }
    /// ```
    ///
    /// - Returns: A closure that restores the object's current state in memory. It is called only if the savepoint
    ///   fails, after SQLite has restored the tables and after the connection's `dropCaches()`. It must run no
    ///   statement. Return `{}` if the object keeps nothing in memory.
    /// - Throws: `savepointUnsupported` by default. The savepoint then fails before it begins.
    func makeRestorePoint() throws -> () -> Void

    /// Called after COMMIT, while the database's writer is still held. Keep it short, and begin no transaction. The
    /// extension's own transaction has ended: calls on it throw.
    func didCommit(snapshot: UInt64)

    /// Called when the transaction failed or was rolled back, before or at COMMIT.
    func didRollback()
}

/// Changes of an extension that count towards the limit of kept commits.
public protocol YapDatabaseCountedChanges: Sendable {
    /// Number of changed rows, or of items of similar size.
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
    /// Returns nil: no changes.
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

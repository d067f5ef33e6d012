/// State of an extension in memory for one SQLite handle. Used by one thread at a time.
///
/// It changes only in `apply` and `dropCaches`. A transaction keeps its changes to itself, and passes them on as one
/// value at its end, so a transaction that fails leaves no trace.
public protocol YapDatabaseExtensionConnection: AnyObject {
    /// Type that `transaction.ext(_:as:)` returns.
    associatedtype Transaction: YapDatabaseExtensionTransaction

    /// Creates a transaction object, which may request those of the extension's dependencies.
    ///
    /// - Parameters:
    ///   - transaction: The enclosing transaction. It owns the object, which may reference it as `unowned`.
    ///   - tables: The extension's own tables.
    func makeTransaction(_ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables)
        -> Transaction

    /// Updates the caches from one commit to the next.
    ///
    /// - Parameter changes: The result of `changesForConnections()` in that commit's transaction.
    func apply(_ changes: any Sendable)

    /// Drops everything that can be read from the tables again. Called when a transaction or a savepoint failed, or
    /// another process wrote.
    func dropCaches()
}

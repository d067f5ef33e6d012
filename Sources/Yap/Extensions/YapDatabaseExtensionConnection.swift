/// What one SQLite handle keeps in memory for an extension. Used by one thread at a time.
///
/// Its state changes in two places only: in `apply`, and in `dropCaches`. A transaction keeps what it changes
/// to itself, and hands it over as one value at its end; so a transaction that fails leaves no trace.
public protocol YapDatabaseExtensionConnection: AnyObject {
    /// What `transaction.ext(_:as:)` returns.
    associatedtype Transaction: YapDatabaseExtensionTransaction

    /// Returns a new transaction object, which may ask for those of the extension's dependencies.
    ///
    /// - Parameters:
    ///   - transaction: The transaction that it is a part of. It owns the object, which may keep it as `unowned`.
    ///   - tables: The extension's own tables.
    func makeTransaction(_ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables)
        -> Transaction

    /// Brings the caches from one commit to the next.
    ///
    /// - Parameter changes: What `changesForConnections()` returned in that commit's transaction.
    func apply(_ changes: any Sendable)

    /// Forgets everything that can be read from the tables again: a transaction failed, or a savepoint in one that goes
    /// on, or another process wrote.
    func dropCaches()
}

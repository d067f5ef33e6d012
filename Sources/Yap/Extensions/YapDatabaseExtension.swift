/// Keeps data that is derived from the rows up to date, inside the same commit: an index, a view, a sync
/// queue.
///
/// The triad: one *extension* a database (configuration, immutable once registered), one *connection* for
/// each SQLite handle (caches), one *transaction* for each transaction in which it is used (short-lived).
public protocol YapDatabaseExtension: AnyObject, Sendable {
    /// What one SQLite handle keeps in memory for the extension.
    associatedtype Connection: YapDatabaseExtensionConnection

    /// The name of the class as it is stored. When another class takes a registered name, the tables of the
    /// first are dropped: keep it when you rename the class.
    static var className: String { get }

    /// The version of the extension's tables and code. It is stored, and given back at the next registration.
    static var classVersion: Int { get }

    /// The version of the app's configuration (its closures). It is stored, and given back at the next
    /// registration.
    var versionTag: String { get }

    /// The names under which extensions must be registered before this one. Their hooks run before its own.
    var dependencies: [String] { get }

    /// The SQLite tables that the extension owns when registered as `registeredName`. They are stored, and
    /// dropped when it is unregistered or another class takes its name; so they can be dropped without the
    /// class at hand.
    func tableNames(registeredName: String) -> [String]

    /// A new connection object. Called once for each SQLite handle that uses the extension.
    func makeConnection(registeredName: String) -> Connection

    /// Called once after the registration was committed, outside of any transaction, on the registering
    /// thread. The database holds the extension: hold the database `weak`.
    func didRegister(registeredName: String, database: YapDatabase)
}

extension YapDatabaseExtension {
    /// The type's name without its module.
    public static var className: String { String(describing: Self.self) }
    /// No dependencies.
    public var dependencies: [String] { [] }
    /// No tables.
    public func tableNames(registeredName: String) -> [String] { [] }
    /// Does nothing.
    public func didRegister(registeredName: String, database: YapDatabase) {}
}

/// What one SQLite handle keeps in memory for an extension. Used by one thread at a time.
///
/// Its state changes in two places only: in `apply`, and in `dropCaches`. A transaction keeps what it changes
/// to itself, and hands it over as one value at its end; so a transaction that fails leaves no trace.
public protocol YapDatabaseExtensionConnection: AnyObject {
    /// What `transaction.ext(_:as:)` returns.
    associatedtype Transaction: YapDatabaseExtensionTransaction

    /// A transaction object. It may keep `transaction` as `unowned`: the latter owns it.
    func makeTransaction(_ transaction: YapDatabaseReadTransaction) -> Transaction

    /// Brings the caches from one commit to the next.
    ///
    /// - Parameter changes: What `changesForConnections()` returned in that commit's transaction.
    func apply(_ changes: any Sendable)

    /// Forgets everything that can be read from the tables again: a transaction failed, or another process
    /// wrote.
    func dropCaches()
}

/// What an extension registered under the same name stored when it was last registered.
public struct YapDatabaseExtensionRegistration: Sendable, Equatable {
    /// The `classVersion` then.
    public let classVersion: Int
    /// The `versionTag` then.
    public let versionTag: String
    /// Whether rows were written since while the extension was not registered, so that its tables may be
    /// behind.
    public let hasMissedCommits: Bool
}

/// An extension in one transaction. All calls come from the thread of the transaction.
///
/// A method that throws fails the whole transaction: nothing of it is kept.
public protocol YapDatabaseExtensionTransaction: AnyObject {
    /// Creates, upgrades or fills the extension's tables. Called once, in the transaction that registers it.
    ///
    /// - Parameter previous: What was stored under the name, or `nil`: new, or another class (its tables are
    ///   gone).
    func register(previous: YapDatabaseExtensionRegistration?) throws

    /// Called before a row changes: the transaction still reads the old values.
    func willChange(_ change: YapDatabaseRowChange) throws

    /// Called after a row changed, in the order in which the extensions were registered.
    func didChange(_ change: YapDatabaseRowChange) throws

    /// Called at the end of the closure: the last place to change rows (other extensions see these changes).
    /// Called on all extensions again and again until none changes a row.
    func flushPendingChangesToMainDatabaseTable() throws

    /// Called after that: writes what the transaction collected into the extension's own tables. No rows
    /// change now.
    func flushPendingChangesToExtensionTables() throws

    /// What other connections need to bring their caches up to date, or `nil` for nothing. Called after the
    /// flushes.
    func changesForConnections() -> (any Sendable)?

    /// Called after COMMIT, while the database's writer is still held: keep it short, begin no transaction. The
    /// extension's own transaction has ended: calls on it throw.
    func didCommit(snapshot: UInt64)

    /// Called when the transaction failed or was rolled back, before or at COMMIT.
    func didRollback()
}

extension YapDatabaseExtensionTransaction {
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
    /// Does nothing.
    public func didCommit(snapshot: UInt64) {}
    /// Does nothing.
    public func didRollback() {}
}

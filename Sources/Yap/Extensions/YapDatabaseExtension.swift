/// Maintains data that is derived from the rows, in the same commit: an index, a view, a sync queue.
///
/// It has three parts: one *extension* for a database (configuration, immutable once registered), one *connection*
/// for each SQLite handle (caches), and one *transaction* for each transaction in which it is used (short-lived).
public protocol YapDatabaseExtension: AnyObject, Sendable {
    /// The part for one SQLite handle.
    associatedtype Connection: YapDatabaseExtensionConnection

    /// Stored name of the class. When another class takes a registered name, the tables of the first are dropped, so
    /// keep this name when you rename the class.
    static var className: String { get }

    /// Version of the extension's tables and code. It is stored, and passed to the next registration.
    static var classVersion: Int { get }

    /// True if transactions record what is read with them, with `YapDatabaseExtensionTables.noteRead(_:)` or by
    /// reading rows. An observation then depends on these reads only. If false, each commit counts as a change.
    static var notesReads: Bool { get }

    /// True if the extension can catch up with the rows that changed while it wasn't registered, instead of being
    /// filled again. Default: false.
    ///
    /// While it catches up, each of these rows is passed to `didChange(.remove(…))` without a `willChange`, under
    /// each rowid, collection and key that it had since, and then to `fill(_:)` with its current value. Until then
    /// `willChange` and `didChange` are called for these rows as for others. So the extension must accept the removal
    /// or the update of a row that it doesn't have, and the insertion of a row with a rowid or name that it has.
    static var catchesUp: Bool { get }

    /// Version of the app's configuration (its closures). It is stored, and passed to the next registration.
    var versionTag: String { get }

    /// Names of the extensions that must be registered before this one. Their methods are called before its own, and
    /// it receives rows only while they have all rows. When one of them changes in a process without this one, the
    /// next registration gets `missedChanges`.
    var dependencies: [String] { get }

    /// Collections that the extension observes. Nil for all. It receives no other rows.
    var collections: [String]? { get }

    /// Returns the names of the SQLite tables that the extension owns when registered as `registeredName`. They are
    /// stored, and dropped when it is unregistered or another class takes its name, which doesn't need the class.
    func tableNames(registeredName: String) -> [String]

    /// Creates a connection object. Called once for each SQLite handle that uses the extension.
    func makeConnection(registeredName: String) -> Connection

    /// Called once when the extension is complete and committed, outside any transaction, on the registering thread.
    /// The database retains the extension, so reference the database as `weak`.
    func didRegister(registeredName: String, database: YapDatabase)
}

extension YapDatabaseExtension {
    /// Name of the type without its module.
    public static var className: String { String(describing: Self.self) }
    /// False.
    public static var notesReads: Bool { false }
    /// False.
    public static var catchesUp: Bool { false }
    /// No dependencies.
    public var dependencies: [String] { [] }
    /// All collections.
    public var collections: [String]? { nil }
    /// No tables.
    public func tableNames(registeredName: String) -> [String] { [] }
    /// Does nothing.
    public func didRegister(registeredName: String, database: YapDatabase) {}
}

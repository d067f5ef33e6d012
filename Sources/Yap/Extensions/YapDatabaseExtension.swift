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

    /// Whether transactions note what is read with them, by `YapDatabaseExtensionTables.noteRead(_:)` or by reading
    /// rows. An observation of a query depends on that alone. Without notes each commit may change what was read.
    static var notesReads: Bool { get }

    /// Whether the extension can catch up by the rows that changed while it wasn't registered, instead of being filled
    /// anew. Default: false.
    ///
    /// While it catches up, each of these rows is handed to `didChange(.remove(…))` without a `willChange`, under each
    /// rowid, collection and key that it had since, and then to `fill(_:)` as it is now. Until then `willChange` and
    /// `didChange` are called for these rows as for others. So the extension must accept the removal or the update of a
    /// row that it doesn't have, and the insert of a row whose rowid or name it has.
    static var catchesUp: Bool { get }

    /// The version of the app's configuration (its closures). It is stored, and given back at the next
    /// registration.
    var versionTag: String { get }

    /// The names under which extensions must be registered before this one. Their hooks run before its own, and it is
    /// handed rows only while they have all rows. When one of them changes in a process without this one, the next
    /// registration gets `missedChanges`.
    var dependencies: [String] { get }

    /// The collections whose rows concern the extension; nil: all of them. It hears of no other row.
    var collections: [String]? { get }

    /// The SQLite tables that the extension owns when registered as `registeredName`. They are stored, and
    /// dropped when it is unregistered or another class takes its name; so they can be dropped without the
    /// class at hand.
    func tableNames(registeredName: String) -> [String]

    /// A new connection object. Called once for each SQLite handle that uses the extension.
    func makeConnection(registeredName: String) -> Connection

    /// Called once when the extension is complete and committed, outside of any transaction, on the registering
    /// thread. The database holds the extension: hold the database `weak`.
    func didRegister(registeredName: String, database: YapDatabase)
}

extension YapDatabaseExtension {
    /// The type's name without its module.
    public static var className: String { String(describing: Self.self) }
    /// No notes.
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

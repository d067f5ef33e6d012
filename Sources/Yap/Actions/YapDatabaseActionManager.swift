/// Work of the app for the objects of a collection, to be done when it is due.
///
/// ```swift
/// let uploads = YapDatabaseActionManager("uploads", of: Todo.self, in: "todos", version: "1") { todo in
///     todo.isUploaded ? [] : [YapDatabaseAction("upload", at: todo.due, requiresNetwork: true)]
/// }
/// try await database.register(uploads)
/// try await database.run(uploads) { action in
///     try await upload(action.object)
///     try await connection.readWrite { try markUploaded(action.key, $0) }
/// }
/// ```
///
/// It has a table of the actions of all objects, which is updated with each write in the same transaction. `run`
/// starts the due actions. An action ends when its object no longer has it, because of a write or because the object
/// was removed. Until then it is started repeatedly, after its `retryAfterSeconds`.
///
/// The date of the next start is stored when an action starts. So after a restart of the app an action waits for its
/// retry, and two processes don't start it at the same time.
public final class YapDatabaseActionManager<Object: Sendable>: YapDatabaseNamedExtension {
    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseActionManager" }
    /// Version of the table.
    public static var classVersion: Int { 1 }
    /// Its transactions record their reads of the table.
    public static var notesReads: Bool { true }
    /// True: its rows have the rowids of the objects' rows.
    public static var catchesUp: Bool { true }

    /// Name of the extension in transactions and in the file.
    public let name: String
    /// Collection of the objects.
    public let collection: String
    /// The app's version, and the collection.
    public let versionTag: String
    let actions: @Sendable (Object, (any Sendable)?) -> [YapDatabaseAction]
    /// Type of the metadata that the actions depend on, or nil if they depend on the objects only.
    let metadataType: (any Sendable.Type)?

    /// Describes the actions of a collection's objects.
    ///
    /// - Parameters:
    ///   - name: Name of the extension in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it whenever `actions` would return something else for an object. The table is then filled
    ///     again.
    ///   - actions: Returns the current actions of an object, up to `YapDatabaseAction.perObjectMax`. They must
    ///     depend on the object only. Called in each transaction that sets or touches the object.
    public init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        _ actions: @escaping @Sendable (Object) -> [YapDatabaseAction]
    ) {
        (self.name, self.collection, metadataType) = (name, collection, nil)
        self.actions = { object, _ in actions(object) }
        versionTag = "\(version);\(collection)"
    }

    /// Describes actions that depend on the objects and their metadata. For the other parameters see the first form.
    ///
    /// - Parameters:
    ///   - name: Name under which it is registered.
    ///   - type: Type of the objects.
    ///   - metadata: The registered type of the collection's metadata. For another type, registering throws
    ///     `typeMismatch` or `missingRegistration`.
    ///   - collection: Collection of the objects.
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - actions: Returns the current actions of a row from its object and its metadata, which is nil for a row
    ///     without metadata. Called in each transaction that sets or touches one of them.
    public init<Metadata: Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, in collection: String, version: String,
        _ actions: @escaping @Sendable (_ object: Object, _ metadata: Metadata?) -> [YapDatabaseAction]
    ) {
        (self.name, self.collection, metadataType) = (name, collection, metadata)
        self.actions = { actions($0, $1 as? Metadata) }
        versionTag = "\(version);\(collection)"
    }

    /// Describes the actions of a collection of objects with an `actions` property. Parameters: see the first form.
    public convenience init(_ name: String, of type: Object.Type, in collection: String, version: String)
    where Object: YapDatabaseActionSource {
        self.init(name, of: type, in: collection, version: version) { $0.actions }
    }

    /// The collection of the objects.
    public var collections: [String]? { [collection] }

    /// Returns the table of actions.
    public func tableNames(registeredName: String) -> [String] { ["actions_\(registeredName)"] }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseActionConnection<Object> {
        YapDatabaseActionConnection(self, ActionSQL(table: tableNames(registeredName: registeredName)[0]))
    }
}

/// The actions of one SQLite handle. It only keeps its SQL texts.
public final class YapDatabaseActionConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let manager: YapDatabaseActionManager<Object>
    let sql: ActionSQL

    init(_ manager: YapDatabaseActionManager<Object>, _ sql: ActionSQL) {
        (self.manager, self.sql) = (manager, sql)
    }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseActionTransaction<Object> {
        YapDatabaseActionTransaction(self, transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

/// Changes of the table in a transaction.
struct ActionChanges: Sendable {
    /// True if actions were added, removed or rescheduled. False if actions were only started.
    var isOfActions = false
    var isOfStarts = false
}

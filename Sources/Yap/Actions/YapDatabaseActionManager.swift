/// Work of the app that is to be done for the objects of a collection when it is due.
///
/// ```swift
/// let uploads = YapDatabaseActionManager("uploads", of: Todo.self, in: "todos", version: "1") { todo in
///     todo.isUploaded ? [] : [YapDatabaseAction("upload", at: todo.due, retryAfterSeconds: 60, requiresNetwork: true)]
/// }
/// try await database.register(uploads)
/// try await database.run(uploads) { action in
///     try await upload(action.object)
///     try await connection.readWrite { try markUploaded(action.key, $0) }
/// }
/// ```
///
/// It keeps a table of the actions of all objects, which follows each write inside the transaction. `run` starts those
/// that are due. An action ends when its object no longer has it, by a write or because the object is removed; until
/// then it is started again and again, after its `retryAfterSeconds`.
///
/// The date of the next start is stored when an action is started. So after a restart of the app an action waits for
/// its retry, and two processes don't start it at once.
public final class YapDatabaseActionManager<Object: Sendable>: YapDatabaseNamedExtension {
    /// The class's name in the file, whatever the objects' type.
    public static var className: String { "YapDatabaseActionManager" }
    /// The version of the table.
    public static var classVersion: Int { 1 }
    /// Its transactions note that they read the table.
    public static var notesReads: Bool { true }
    /// True: its rows have the rowids of the objects' rows.
    public static var catchesUp: Bool { true }

    /// Name of the actions in transactions and in the file.
    public let name: String
    /// The collection of the objects.
    public let collection: String
    /// The version that the app gave, with the collection.
    public let versionTag: String
    let actions: @Sendable (Object, (any Sendable)?) -> [YapDatabaseAction]
    /// The type of the metadata that the actions depend on; nil if they depend on the objects alone.
    let metadataType: (any Sendable.Type)?

    /// Describes the actions of a collection's objects.
    ///
    /// - Parameters:
    ///   - name: Name of the actions in transactions and in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it whenever `actions` returns something else for an object. The table is then filled anew.
    ///   - actions: Returns the actions that an object has now, up to `YapDatabaseAction.perObjectMax`. They depend on
    ///     the object alone. Called in each transaction that sets or touches the object.
    public init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        _ actions: @escaping @Sendable (Object) -> [YapDatabaseAction]
    ) {
        (self.name, self.collection, metadataType) = (name, collection, nil)
        self.actions = { object, _ in actions(object) }
        versionTag = "\(version);\(collection)"
    }

    /// Describes actions that depend on the objects and their metadata. Parameters as the other form.
    ///
    /// - Parameters:
    ///   - metadata: The type that the collection's metadata is registered with. Registering throws `typeMismatch` or
    ///     `missingRegistration` for another one.
    ///   - actions: Returns the actions that a row has now, by its object and its metadata; nil for a row without
    ///     metadata. Called in each transaction that sets or touches one of them.
    public init<Metadata: Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, in collection: String, version: String,
        _ actions: @escaping @Sendable (_ object: Object, _ metadata: Metadata?) -> [YapDatabaseAction]
    ) {
        (self.name, self.collection, metadataType) = (name, collection, metadata)
        self.actions = { actions($0, $1 as? Metadata) }
        versionTag = "\(version);\(collection)"
    }

    /// Describes the actions of a collection whose objects have them. Parameters as the other form.
    public convenience init(_ name: String, of type: Object.Type, in collection: String, version: String)
    where Object: YapDatabaseActionSource {
        self.init(name, of: type, in: collection, version: version) { $0.actions }
    }

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The one table.
    public func tableNames(registeredName: String) -> [String] { ["actions_\(registeredName)"] }

    /// The actions at one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseActionConnection<Object> {
        YapDatabaseActionConnection(self, ActionSQL(table: tableNames(registeredName: registeredName)[0]))
    }
}

/// Actions at one SQLite handle. It keeps nothing but the texts of its statements.
public final class YapDatabaseActionConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let manager: YapDatabaseActionManager<Object>
    let sql: ActionSQL

    init(_ manager: YapDatabaseActionManager<Object>, _ sql: ActionSQL) {
        (self.manager, self.sql) = (manager, sql)
    }

    /// The actions in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseActionTransaction<Object> {
        YapDatabaseActionTransaction(self, transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

/// What a transaction changed in the table.
struct ActionChanges: Sendable {
    /// Whether actions came, went or have another date. False if actions were only started.
    var isOfActions = false
    var isOfStarts = false
}

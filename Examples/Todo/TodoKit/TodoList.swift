public import CloudKit
public import Yap
public import YapCloudKit

/// The todo list of an app: a database on the device, kept the same on every device of its user.
public final class TodoList: Sendable {
    /// The collection of the items, and the zone of their records.
    public static let collection = "todos"

    /// The sync, for its status and its merge log.
    public let sync: CloudSync
    /// Where the items are.
    public let database: YapDatabase
    private let connection: YapDatabaseConnection

    /// Opens the list in the file at `path`, which is made when there is none.
    ///
    /// - Parameters:
    ///   - path: Where the database is.
    ///   - container: The cloud that the list is in.
    ///   - role: Whether this process syncs, or only records what others send.
    /// - Throws: What opening a database throws.
    public init(path: String, container: CKContainer, role: CloudSync.Role = .syncs) async throws {
        database = try YapDatabase(path: path) {
            $0.register(Todo.self, inCollection: TodoList.collection)
        }
        connection = database.newConnection()
        sync = try await CloudSync(
            database, container: container, models: [.model(Todo.self, collection: TodoList.collection)],
            zone: TodoList.collection, role: role)
    }

    /// Closes the file, and lets another process sync.
    public func close() async throws {
        try await database.close()
    }

    /// All items by their keys.
    public func todos() async throws -> [String: Todo] {
        try await connection.read { transaction in
            var todos = [String: Todo]()
            for row in try transaction.objects(Todo.self, inCollection: TodoList.collection) {
                todos[row.key] = row.object
            }
            return todos
        }
    }

    /// How many changes wait to be sent.
    public func pendingChangesCount() async throws -> Int {
        try await connection.read { transaction in
            let changeSets = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets()
            return changeSets.reduce(0) { $0 + $1.recordsToSave.count + $1.recordIDsToDelete.count }
        }
    }

    /// Where the fetch of the other devices' changes goes on; nil before the first one.
    public func changeToken() async throws -> String? {
        try await connection.read { [zoneID = sync.zoneID] transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            guard let token = try ext.token(forZone: zoneID, databaseIdentifier: nil) else { return nil }
            return token.token
        }
    }

    /// Adds items in one commit.
    public func add(_ items: [(key: String, todo: Todo)]) async throws {
        try await connection.readWrite { transaction in
            for (key, todo) in items {
                try transaction.setObject(todo, forKey: key, inCollection: TodoList.collection)
            }
        }
    }

    /// Changes an item; does nothing when there is none with this key.
    public func change(_ key: String, _ edit: @escaping @Sendable (inout Todo) -> Void) async throws {
        try await connection.readWrite { transaction in
            guard var todo = try transaction.object(Todo.self, forKey: key, inCollection: TodoList.collection)
            else { return }
            edit(&todo)
            try transaction.setObject(todo, forKey: key, inCollection: TodoList.collection)
        }
    }

    /// Removes an item.
    public func remove(_ key: String) async throws {
        try await connection.readWrite { try $0.removeObject(forKey: key, inCollection: TodoList.collection) }
    }
}

import Foundation
import Testing
import Yap

private struct List: Codable, Sendable {}

private func database(_ url: URL, _ todo: Todo) async throws {
    let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
    let connection = database.newConnection()
    try await connection.readWrite { transaction in
        try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
    }
}

private func collections(_ url: URL) throws -> YapDatabase {
    let database = try YapDatabase(url: url) {
        $0.register(Todo.self, inCollection: "todos")
        $0.register(List.self, inCollection: "lists")
    }
    return database
}

private func inMemory() throws -> YapDatabase {
    let database = try YapDatabase(inMemory: YapDatabaseOptions()) {
        $0.register(Todo.self, inCollection: "todos")
    }
    return database
}

private func connections(_ database: YapDatabase) -> [YapDatabaseConnection] {
    let connection = database.newConnection()
    let list = database.newConnection(name: "list", permits: .anyRead)
    return [connection, list]
}

private func registration(_ configuration: inout YapDatabaseConfiguration) {
    configuration.register(Todo.self, inCollection: "todos")
}

private func blocking(
    _ database: YapDatabase, _ connection: YapDatabaseConnection, _ todoSearch: some YapDatabaseExtension,
    _ todo: Todo
) throws -> Int {
    try database.blocking.register(todoSearch, withName: "search")
    try database.blocking.backup(to: "/backups/todos.yap") { part in print("\(Int(part * 100)) %") }
    let count = try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") }
    try connection.blocking.readWrite { try $0.setObject(todo, forKey: todo.id, inCollection: "todos") }
    return count
}

private func model() {
    struct Bookmark: YapDatabaseModel {
        var title = ""
        var note = ""  // new in version 2 of the app
    }
}

private func warnings(_ url: URL) throws {
    let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
    for warning in database.modelWarnings { print(warning) }
}

private func encryption(_ keyFromSecretStorage: [UInt8]) throws -> YapDatabaseOptions {
    var options = YapDatabaseOptions()
    options.encryptionKey = try .init(bytes: keyFromSecretStorage)
    return options
}

private func options(_ url: URL) throws -> YapDatabase {
    var options = YapDatabaseOptions()
    options.durability = .normal
    let database = try YapDatabase(url: url, options: options) {
        $0.register(Todo.self, inCollection: "todos")
    }
    return database
}

private func upgrade(_ url: URL) throws -> YapDatabase {
    try YapDatabase(url: url) {
        $0.register(Todo.self, inCollection: "todos", version: 3) { old in
            if old.version < 2 { old.rename("done", to: "isDone") }
            if let text = try old.value(String.self, of: "priority") {
                try old.set(Int(text) ?? 0, for: "priority")
            }
        }
    }
}

private func serializer(_ url: URL) throws -> YapDatabase {
    let json = YapDatabaseSerializer<Todo>(
        encode: { try [UInt8](JSONEncoder().encode($0)) },
        decode: { try JSONDecoder().decode(Todo.self, from: Data($0)) })
    let database = try YapDatabase(url: url) {
        $0.register(Todo.self, serializer: json, inCollection: "todos")
    }
    return database
}

private func maintenance(
    _ database: YapDatabase, _ connection: YapDatabaseConnection, _ todoSearch: some YapDatabaseExtension,
    _ byDate: some YapDatabaseNamedExtension, newPath: String, newKey: [UInt8]
) async throws {
    try await database.register(todoSearch, withName: "search") { part in print("\(Int(part * 100)) %") }
    try await database.register(byDate)
    try await database.backup(to: "/backups/todos.yap")
    try await database.backup(to: newPath, encryptionKey: .init(bytes: newKey))
    try await connection.upgradeObjects(inCollection: "todos") { print($0.doneCount, "of", $0.totalCount) }
}

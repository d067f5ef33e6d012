import Foundation
import Testing
import Yap

private typealias ReadTransaction = YapDatabaseReadTransaction
private typealias WriteTransaction = YapDatabaseReadWriteTransaction

private enum Reason { case importOfContacts }

private struct Contact: Codable, Sendable { let id: String }

private struct Setting: Codable, Sendable { var isOn: Bool }

private func removeThumbnail(of id: String) {}

private func add(_ line: String, in transaction: WriteTransaction) throws {}

private func read(_ connection: YapDatabaseConnection, _ id: String) async throws -> Todo? {
    let todo = try await connection.read { try $0.object(Todo.self, forKey: id, inCollection: "todos") }
    return todo
}

private func readInLines(_ connection: YapDatabaseConnection, _ id: String) async throws -> Todo? {
    let todo = try await connection.read { transaction in
        try transaction.object(Todo.self, forKey: id, inCollection: "todos")
    }
    return todo
}

private func write(_ connection: YapDatabaseConnection, _ todo: Todo, draftID: String) async throws {
    try await connection.readWrite { transaction in
        try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
    }
    try await connection.readWrite { transaction in
        try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
        try transaction.removeObject(forKey: draftID, inCollection: "drafts")
    }
}

private func info(_ connection: YapDatabaseConnection, _ contact: Contact) async throws {
    try await connection.readWrite { transaction in
        transaction.commitInfo = Reason.importOfContacts
        try transaction.setObject(contact, forKey: contact.id, inCollection: "contacts")
    }
}

private func rows(_ transaction: ReadTransaction, _ id: String) throws -> Todo? {
    for row in try transaction.objects(Todo.self, inCollections: ["inbox", "today"]) {
        print(row.collection, row.key, row.object.title)
    }
    for row in try transaction.objectsInAllCollections((any Sendable).self) {
        if let todo = row.object as? Todo { print(row.key, todo.title) }
    }
    for (key, todo) in try transaction.objects(Todo.self, inCollection: "todos") { print(key, todo.title) }
    let todo = try transaction.object(Todo.self, forKey: id, inCollection: "todos")
    return todo
}

private func changes(_ transaction: ReadTransaction, since token: YapDatabaseChangeToken) throws
    -> YapDatabaseChangeToken
{
    let next = try transaction.changeToken(of: "export")
    if let changes = try transaction.changes(since: token) {
        for change in changes { print(change.collection, change.key, change.isRemoved) }
    } else {
        // Everything may have changed: read all rows.
    }
    return next
}

private func writing(_ transaction: WriteTransaction, _ todo: Todo, _ id: String, _ lines: [String]) throws
    -> [String]
{
    try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
    try transaction.removeObject(forKey: id, inCollection: "drafts")
    try transaction.addCompletion { removeThumbnail(of: id) }
    var rejected: [String] = []
    for line in lines {
        do {
            try transaction.savepoint { try add(line, in: transaction) }
        } catch {
            rejected.append(line)
        }
    }
    return rejected
}

private func pool(_ database: YapDatabase) async throws -> Todo? {
    let pool = YapDatabaseConnectionPool(database)
    let todo = try await pool.read { try $0.object(Todo.self, forKey: "1", inCollection: "todos") }
    return todo
}

private func longLived(_ connection: YapDatabaseConnection) async throws -> Bool {
    let list = try await connection.beginLongLivedRead()
    let titles = try await list.read { try $0.objects(Todo.self, inCollection: "todos").map(\.object.title) }
    // Later, when the screen may change:
    let commits = try await list.moveToNewest()
    let isChanged = commits.contains { $0.hasChange(inCollection: "todos") }
    return isChanged && titles.isEmpty
}

private func observation(
    _ connection: YapDatabaseConnection, _ count: @escaping @Sendable (ReadTransaction) throws -> Int
) async throws {
    for try await count in connection.observe({ try $0.numberOfKeys(inCollection: "todos") }) { show(count) }
    let counts = connection.observe { try $0.numberOfKeys(inCollection: "todos") }
        .removingDuplicates { $0 == $1 }
    for try await count in connection.observe(count).atMostEvery(.milliseconds(250)) { show(count) }
    for try await count in counts { show(count) }
}

@Suite struct TransactionExamples {
    @Test func aReaderReadsChanges() async throws {
        let example = try await ExampleDatabase()
        let (database, connection) = (example.database, example.connection)
        try await database.registerChangeReader("export")
        let token = try await connection.read { try $0.changeToken(of: "export") }
        try await connection.readWrite { try $0.setObject(Todo(), forKey: "3", inCollection: "todos") }
        let changes = try await connection.read { transaction in
            try transaction.changes(since: token).map(Array.init)
        }
        #expect(changes?.map(\.key) == ["3"])
    }

    private func reader(
        _ database: YapDatabase, _ connection: YapDatabaseConnection,
        since token: YapDatabaseChangeToken
    ) async throws -> [YapDatabaseChangedRow]? {
        try await database.registerChangeReader("export")
        let changes = try await connection.read { transaction in
            try transaction.changes(since: token).map(Array.init)
        }
        return changes
    }

    @Test func aProxyHasAValueAtOnce() async throws {
        let example = try await ExampleDatabase { $0.register(Setting.self, inCollection: "settings") }
        let connection = example.connection
        let settings = try YapDatabaseProxy(connection, of: Setting.self, in: "settings")
        try settings.setObject(Setting(isOn: true), forKey: "sounds")
        let sounds = try await settings.object(forKey: "sounds")
        #expect(sounds?.isOn == true)
    }
}

import CloudKit
import Foundation
import Yap
import YapCloudKit

// What the examples call and store: the parts of an app that aren't shown in them.

/// The object of most examples.
struct Todo: CloudModel, Equatable {
    var id = "1"
    var title = ""
    var notes = ""
    var list = "home"
    var due = Date(timeIntervalSince1970: 1_700_000_000)
    var priority = 0
    var isDone = false
    var isUploaded = false

    var year: Int { due < Date(timeIntervalSince1970: 1_704_067_200) ? 2023 : 2024 }

    static let recordType = "todo"
    static let fields = CloudFields<Todo> {
        $0.field(\.title)
        $0.field(\.isDone, as: "completed")
        $0.field(\.priority).merged { base, local, remote in max(local, remote) }
    }
}

/// An object with metadata.
struct Note: Codable, Sendable {
    enum Kind: String, Codable, YapDatabaseColumnConvertible { case article, recipe }

    var title = ""
    var kind = Kind.article
    var rating = 0
    var folder = "inbox"
    var embedding: [Float] = [1, 0]
}

struct NoteInfo: Codable, Sendable {
    var downloadedAt: Date?
    var openedAt: Date?
}

/// Metadata of a todo.
struct Stamp: Codable, Sendable {}

let now = Date(timeIntervalSince1970: 1_710_000_000)

func reload() {}
func show(_ value: some Sendable) {}
func upload(_ todo: Todo) async throws {}

/// A database in memory with the collections of the examples.
struct ExampleDatabase {
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init(_ register: (inout YapDatabaseConfiguration) -> Void = { _ in }) async throws {
        database = try YapDatabase(inMemory: YapDatabaseOptions()) {
            $0.register(Todo.self, metadata: Stamp.self, inCollection: "todos")
            $0.register(Note.self, metadata: NoteInfo.self, inCollection: "notes")
            register(&$0)
        }
        connection = database.newConnection()
        let todos = [
            Todo(id: "1", title: "Buy milk", notes: "The whole one", priority: 3),
            Todo(id: "2", title: "Bread rolls", priority: 4, isDone: true),
        ]
        try await connection.readWrite { transaction in
            for todo in todos { try transaction.setObject(todo, forKey: todo.id, inCollection: "todos") }
            try transaction.setObject(
                Note(title: "Bread", rating: 4), metadata: NoteInfo(downloadedAt: .distantPast), forKey: "1",
                inCollection: "notes")
        }
    }
}

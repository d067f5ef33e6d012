import Testing
import Yap

private struct WordChanges: Sendable { let words: Set<String> }

private func tables(_ tables: YapDatabaseExtensionTables, _ word: String) throws
    -> [[YapDatabaseColumnValue]]
{
    try tables.run("INSERT OR REPLACE INTO words VALUES (?1, ?2)", [.text("milk"), .integer(3)])
    let counts = try tables.rows("SELECT count FROM words WHERE word = ?1", [.text("milk")])
    tables.noteRead { changes in (changes as? WordChanges)?.words.contains(word) ?? true }
    return counts
}

private final class WordTransaction {
    var counts: [String: Int] = [:]

    func makeRestorePoint() throws -> () -> Void {
        let counts = counts
        return { self.counts = counts }
    }
}

@Suite struct ExtensionExamples {
    @Test func aHookSeesAChange() async throws {
        let example = try await ExampleDatabase()
        let (database, connection) = (example.database, example.connection)
        let stamps = YapDatabaseHooks(
            "stamps", of: Todo.self, in: "todos",
            didModify: { change, transaction in
                guard change.kind.contains(.changedObject) else { return }
                try transaction.replaceMetadata(Stamp(), forKey: change.key, inCollection: change.collection)
            })
        try await database.register(stamps)
        try await connection.readWrite { try $0.setObject(Todo(), forKey: "1", inCollection: "todos") }
        let stamp = try await connection.read {
            try $0.metadata(Stamp.self, forKey: "1", inCollection: "todos")
        }
        #expect(stamp != nil)
        let audit = YapDatabaseHooks(
            "audit", in: ["todos", "notes"], didRemove: { row, transaction in print("removed", row.key) })
        try await database.register(audit)
    }

    @Test func undoRestoresARemovedRow() async throws {
        let example = try await ExampleDatabase { $0.register(Todo.self, inCollection: "lists") }
        let (database, connection) = (example.database, example.connection)
        let key = "home"
        try await connection.readWrite { try $0.setObject(Todo(), forKey: key, inCollection: "lists") }
        let undo = YapDatabaseUndo("undo", in: ["lists", "todos"])
        try await database.register(undo)

        try await connection.readWrite { transaction in
            try transaction[undo].group("Delete List") {
                try transaction.removeObject(forKey: key, inCollection: "lists")
            }
        }
        try await connection.readWrite { _ = try $0[undo].undo() }
        let count = try await connection.read { try $0.numberOfKeys(inCollection: "lists") }
        #expect(count == 1)
    }

    private func undoing(
        _ connection: YapDatabaseConnection, _ undo: YapDatabaseUndo, _ key: String, _ button: Button
    ) async throws -> YapDatabaseUndoResult? {
        for try await canUndo in connection.observe({ try $0[undo].canUndo }) {
            button.isEnabled = canUndo
        }
        try await connection.readWrite { transaction in
            try transaction[undo].group("Delete List") {
                try transaction.removeObject(forKey: key, inCollection: "lists")
            }
        }
        let result = try await connection.readWrite { try $0[undo].undo(.skipChangedRows) }
        return result
    }
}

private final class Button { var isEnabled = false }

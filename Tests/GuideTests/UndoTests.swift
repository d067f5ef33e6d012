import Foundation
import Testing
import Yap

let undo = YapDatabaseUndo("undo", in: ["lists", "todos"])

/// `docs/guide/UNDO.md`: its blocks stand here, and do what the page says.
@Suite struct UndoTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "undo.yap")) {
            $0.register(String.self, inCollection: "lists")
            $0.register(String.self, inCollection: "todos")
        }
        connection = database.newConnection()
    }

    private func lists() async throws -> [String] {
        try await connection.read { try $0.allKeys(inCollection: "lists") }
    }

    private func deleteList() async throws {
        try await database.register(undo)
        try await connection.readWrite { try $0.setObject("Home", forKey: "home", inCollection: "lists") }
        try await connection.readWrite { transaction in
            try transaction[undo].group("Delete List") {
                try transaction.removeObject(forKey: "home", inCollection: "lists")
            }
        }
    }

    @Test func aGroupIsUndoneAndRedone() async throws {
        try await deleteList()
        let menu = connection.observe { transaction in
            let log = try transaction[undo]
            return (undo: try log.undoActionName, redo: try log.redoActionName)
        }
        var names = menu.makeAsyncIterator()
        #expect(try await names.next()?.undo == "Delete List")
        try await connection.readWrite { _ = try $0[undo].undo() }
        #expect(try await lists() == ["home"])
        #expect(try await names.next()?.redo == "Delete List")
        try await connection.readWrite { _ = try $0[undo].redo() }
        #expect(try await lists() == [])
    }

    @Test func aRowThatWasChangedSinceIsSkipped() async throws {
        try await deleteList()
        try await connection.readWrite { try $0.setObject("New", forKey: "home", inCollection: "lists") }
        let lines = try await connection.readWrite { transaction in
            var lines: [String] = []
            func log(_ line: String) { lines.append(line) }
            do {
                try transaction[undo].undo()
            } catch let conflict as YapDatabaseUndoConflict {
                log("changed since: \(conflict.changedRows.map(\.key))")
                let result = try transaction[undo].undo(.skipChangedRows)
                log("left as they are: \(result?.skippedRows.map(\.key) ?? [])")
            }
            return lines
        }
        #expect(lines == [#"changed since: ["home"]"#, #"left as they are: ["home"]"#])
    }

    private func deleteAll(isConfirmed: Bool) async throws {
        try await connection.readWrite { transaction in
            do {
                try transaction[undo].group("Delete All") {
                    try transaction.removeAllObjects(inCollection: "todos")
                }
            } catch let error as YapDatabaseError where error.code == .undoGroupTooLarge {
                guard isConfirmed else { throw error }
                try transaction.removeAllObjects(inCollection: "todos")
                try transaction[undo].removeAll()
            }
        }
    }

    @Test func aGroupThatIsTooLargeIsWrittenWithoutUndo() async throws {
        try await deleteList()
        try await connection.readWrite { transaction in
            for number in 0...10_000 {
                try transaction.setObject("todo", forKey: "\(number)", inCollection: "todos")
            }
        }
        await #expect(throws: YapDatabaseError.self) { try await deleteAll(isConfirmed: false) }
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "todos") } == 10_001)
        #expect(try await connection.read { try $0[undo].canUndo })
        try await deleteAll(isConfirmed: true)
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "todos") } == 0)
        #expect(try await connection.read { try !$0[undo].canUndo })
    }
}

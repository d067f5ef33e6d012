import Testing

@testable import Yap

/// What undo does when it would remove rows of collections that the log doesn't record.
@Suite struct UndoUnrecordedTests {
    private struct Item: Codable, Sendable, YapDatabaseRelationshipNode {
        var list: String

        func edges(from source: YapCollectionKey) -> [YapDatabaseEdge] {
            [
                YapDatabaseEdge(
                    "list", from: source, to: .row(list, in: "todos"),
                    rules: .deleteSourceIfDestinationDeleted)
            ]
        }
    }

    private let undo = YapDatabaseUndo("undo", in: ["todos"])
    private let folder: TestFolder
    private let database: YapDatabase

    init() throws {
        folder = try TestFolder()
        database = try folder.open { $0.register(Item.self, inCollection: "items") }
        try database.blocking.register(YapDatabaseRelationship("graph", version: "1"))
        try database.blocking.register(undo)
        try write { transaction in
            try transaction[undo].group("Add Lists") {
                for key in ["home", "work"] { try transaction.set("list", key) }
            }
        }
        // Another device puts an item into one of them.
        try write { try $0.setObject(Item(list: "home"), forKey: "theirs", inCollection: "items") }
    }

    private func write<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws -> Result {
        try database.newConnection().blocking.readWrite(body)
    }

    private func keys(_ collection: String) throws -> [String] {
        try database.newConnection().blocking.read { try $0.allKeys(inCollection: collection).sorted() }
    }

    private func row(_ key: String, _ collection: String) -> YapCollectionKey {
        YapCollectionKey(collection: collection, key: key)
    }

    @Test func aRowThatTheLogDoesNotRecordIsNotRemovedAlong() throws {
        let thrown = conflict { try write { _ = try $0[undo].undo() } }
        #expect(thrown?.changedRows == [])
        #expect(thrown?.dependentRows == [row("theirs", "items")])
        #expect(try (keys("todos"), keys("items")) == (["home", "work"], ["theirs"]))
        let result = try write { try $0[undo].undo(.skipChangedRows) }
        #expect(result?.skippedRows == [row("home", "todos")])
        #expect(try (keys("todos"), keys("items")) == (["home"], ["theirs"]))
        #expect(try write { try $0[undo].redo() } != nil)
        #expect(try (keys("todos"), keys("items")) == (["home", "work"], ["theirs"]))
    }

    @Test func rowsThatTheTransactionRemovedBeforeAreNoConflict() throws {
        try write { transaction in
            try transaction.removeObject(forKey: "theirs", inCollection: "items")
            #expect(try transaction[undo].undo()?.skippedRows == [])
        }
        #expect(try (keys("todos"), keys("items")) == ([], []))
    }

    @Test(arguments: [false, true]) func aRowThatAHookInsertsAndRemovesIsNoConflict(wasThere: Bool) throws {
        if wasThere { try write { try $0.setObject("text", forKey: "mark", inCollection: "notes") } }
        let hooks = YapDatabaseHooks<any Sendable>(
            "mark", in: ["todos"],
            didRemove: { _, transaction in
                if !wasThere { try transaction.setObject("text", forKey: "mark", inCollection: "notes") }
                try transaction.removeObject(forKey: "mark", inCollection: "notes")
            })
        try database.blocking.register(hooks)
        try write { try $0.removeObject(forKey: "theirs", inCollection: "items") }
        let thrown = conflict { try write { _ = try $0[undo].undo() } }
        #expect(thrown?.dependentRows == (wasThere ? [row("mark", "notes")] : nil))
        #expect(try keys("todos") == (wasThere ? ["home", "work"] : []))
    }

    @Test(arguments: [false, true]) func rowsThatAHookClearsAreAConflict(clearsAll: Bool) throws {
        try write { try $0.setObject("text", forKey: "1", inCollection: "notes") }
        let hooks = YapDatabaseHooks<any Sendable>(
            "clear", in: ["todos"],
            didRemove: { row, transaction in
                if row.key != "work" { return }
                if clearsAll { return try transaction.removeAllObjectsInAllCollections() }
                try transaction.removeAllObjects(inCollection: "notes")
            })
        try database.blocking.register(hooks)
        try write { try $0.removeObject(forKey: "theirs", inCollection: "items") }
        let thrown = conflict { try write { _ = try $0[undo].undo() } }
        #expect(thrown?.dependentRows == [clearsAll ? row("", "") : row("", "notes")])
        #expect(try (keys("todos"), keys("notes")) == (["home", "work"], ["1"]))
        #expect(try write { try $0[undo].undo(.skipChangedRows)?.skippedRows } == [row("work", "todos")])
        #expect(try (keys("todos"), keys("notes")) == (["work"], ["1"]))
    }

    @Test(arguments: [false, true])
    func ofChangesThatHaveNoNameOnlyRemovalsAreAConflict(removes: Bool) throws {
        try database.blocking.close()
        var options = YapDatabaseOptions()
        options.changedKeysPerCommitMax = 3
        let database = try folder.open(options)
        let hooks = YapDatabaseHooks<any Sendable>(
            "note", in: ["todos"],
            didModify: { row, transaction in try transaction.note("text", row.key) },
            didRemove: { row, transaction in
                if !removes { return try transaction.note("removed", row.key) }
                try transaction.removeObject(forKey: row.key, inCollection: "notes")
            })
        try database.blocking.register(hooks)
        try database.blocking.register(undo)
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            try transaction[undo].group("Add") {
                for number in 0..<9 { try transaction.set("new", "\(number)") }
            }
        }
        let thrown = conflict { try connection.blocking.readWrite { _ = try $0[undo].undo() } }
        #expect((thrown != nil) == removes)
        #expect(thrown?.dependentRows.contains(row("", "notes")) ?? true)
        let count = try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") }
        #expect(count == (removes ? 11 : 2))
    }

    @Test func aLogWithoutLimitsRecordsAClearing() throws {
        let undo = YapDatabaseUndo(
            "unlimited", in: ["todos"], groupsMax: .max, rowsPerGroupMax: .max, bytesMax: .max)
        try database.blocking.register(undo)
        try write { transaction in
            try transaction.removeObject(forKey: "theirs", inCollection: "items")
            try transaction[undo].group("Clear") { try transaction.removeAllObjectsInAllCollections() }
            #expect(try transaction[undo].undoGroups(limit: .max).count == 1)
            #expect(try transaction[undo].undo() != nil)
        }
        #expect(try keys("todos") == ["home", "work"])
    }
}

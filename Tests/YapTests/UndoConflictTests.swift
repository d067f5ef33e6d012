import SQLite
import System
import Testing

@testable import Yap

/// What undo does with rows that others have changed since.
@Suite struct UndoConflictTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func aRowThatWasChangedSinceIsNeverOverwritten() throws {
        let stage = try UndoStage(in: folder)
        try stage.write { transaction in
            for key in ["a", "b", "c", "d"] { try transaction.set("old", key) }
        }
        try stage.group("Change") { transaction in
            for key in ["a", "b", "e"] { try transaction.set("new", key) }
            for key in ["c", "d"] { try transaction.removeObject(forKey: key, inCollection: "todos") }
        }
        try stage.write { transaction in
            try transaction.set("another device", "a")
            try transaction.set("another device", "c")
            try transaction.replaceMetadata(Stamp(milliseconds: 7), forKey: "e", inCollection: "todos")
        }
        let before = try stage.todos()
        let thrown = conflict { try stage.undo() }
        #expect(thrown?.actionName == "Change")
        #expect(thrown?.changedRows == [.todo("a"), .todo("e"), .todo("c")])
        #expect(thrown?.dependentRows == [])
        #expect("\(try #require(thrown))".contains("todos/a, todos/e, todos/c"))
        #expect(try stage.todos() == before)
        #expect(try stage.actionNames() == [["Change"], []])
        let result = try stage.undo(.skipChangedRows)
        #expect(result?.skippedRows == [.todo("a"), .todo("e"), .todo("c")])
        let after = ["a another device 0", "b old 0", "c another device 0", "d old 0", "e new 7"]
        #expect(try stage.todos() == after)
        #expect(try stage.redo()?.actionName == "Change")
        #expect(try stage.todos() == ["a another device 0", "b new 0", "c another device 0", "e new 7"])
    }

    @Test func aConflictLeavesTheTransactionAsItWas() throws {
        let stage = try UndoStage(in: folder)
        try stage.group("Change") { try $0.set("new", "a") }
        try stage.write { transaction in
            try transaction.set("later", "a")
            #expect(conflict { try transaction[stage.undo].undo() } != nil)
            try transaction.set("after", "b")
        }
        #expect(try stage.todos() == ["a later 0", "b after 0"])
        #expect(try stage.undo(.skipChangedRows)?.skippedRows == [.todo("a")])
        #expect(try stage.actionNames() == [[], []])
    }

    @Test func aRowThatHasItsFormerValueAgainIsNoConflict() throws {
        let stage = try UndoStage(in: folder)
        try stage.write { try $0.set("old", "a") }
        try stage.group("Change") { transaction in
            try transaction.set("new", "a")
            try transaction.set("new", "b")
        }
        try stage.write { transaction in
            try transaction.set("old", "a")
            try transaction.removeObject(forKey: "b", inCollection: "todos")
        }
        #expect(try stage.undo()?.skippedRows == [])
        #expect(try stage.todos() == ["a old 0"])
    }

    @Test func aWriteOfAnotherProcessIsAConflictEvenIfItRecordsNothing() throws {
        let stage = try UndoStage(in: folder)
        try stage.group("Change") { try $0.set("new", "a") }
        let other = try folder.open()
        try other.newConnection().blocking.readWrite { try $0.set("theirs", "a") }
        #expect(conflict { try stage.undo() }?.changedRows == [.todo("a")])
        try other.blocking.close()
        try stage.database.blocking.close()
        let again = try UndoStage(in: folder)
        #expect(conflict { try again.undo() }?.changedRows == [.todo("a")])
    }

    // MARK: Rows that are removed along

    private let graph = YapDatabaseRelationship("graph", version: "1")
    private let rule = YapDatabaseEdgeRules.deleteSourceIfDestinationDeleted

    /// A list that was added in a group, with an item that was added since by another device.
    private func stageWithForeignItem() throws -> UndoStage {
        let stage = try UndoStage(YapDatabaseUndo("undo", in: ["nodes"]), in: folder, graph)
        try stage.group("Add List") { transaction in
            try transaction.set(GraphNode(), "list")
            try transaction.set(GraphNode("of", ["list"], rule), "ours")
            try transaction.set(GraphNode(), "other list")
        }
        try stage.write { try $0.set(GraphNode("of", ["list"], rule), "theirs") }
        return stage
    }

    @Test func aRowOfOthersIsNotRemovedAlongWithOneOfTheGroup() throws {
        let stage = try stageWithForeignItem()
        let thrown = conflict { try stage.undo() }
        #expect(thrown?.changedRows == [])
        #expect(thrown?.dependentRows == [.node("theirs")])
        #expect(try stage.read { try $0.keys() } == ["list", "other list", "ours", "theirs"])
        #expect(try stage.actionNames() == [["Add List"], []])
        #expect(try stage.undo(.skipChangedRows)?.skippedRows == [.node("list")])
        #expect(try stage.read { try $0.keys() } == ["list", "theirs"])
        try stage.redo()
        #expect(try stage.read { try $0.keys() } == ["list", "other list", "ours", "theirs"])
        #expect(try stage.read { try $0[graph].count() } == 2)
    }

    @Test func aRowThatWasChangedSinceIsNotRemovedAlongEither() throws {
        let stage = try stageWithForeignItem()
        try stage.write { transaction in
            try transaction.remove("theirs")
            try transaction.set(GraphNode("of", ["list"], rule).marked(1), "ours")
        }
        #expect(conflict { try stage.undo() }?.changedRows == [.node("ours")])
        #expect(try stage.undo(.skipChangedRows)?.skippedRows == [.node("ours"), .node("list")])
        #expect(try stage.read { try $0.keys() } == ["list", "ours"])
    }

    @Test func aRowThatDependsOnADeletedRowIsAConflictOrStaysAsItIs() throws {
        let stage = try UndoStage(YapDatabaseUndo("undo", in: ["nodes"]), in: folder, graph)
        try stage.write { transaction in
            for key in ["old list", "new list"] { try transaction.set(GraphNode(), key) }
            for key in ["moved", "removed"] { try transaction.set(GraphNode("of", ["old list"], rule), key) }
        }
        try stage.group("Tidy Up") { transaction in
            try transaction.set(GraphNode("of", ["new list"], rule), "moved")
            try transaction.remove("removed")
            try transaction.set(GraphNode(), "added")
        }
        try stage.write { try $0.remove("old list") }
        let keys = ["added", "moved", "new list"]
        #expect(try stage.read { try $0.keys() } == keys)
        #expect(conflict { try stage.undo() }?.dependentRows == [.node("moved"), .node("removed")])
        #expect(try stage.read { try $0.keys() } == keys)
        #expect(try stage.undo(.skipChangedRows)?.skippedRows == [.node("moved"), .node("removed")])
        #expect(try stage.read { try $0.keys() } == ["moved", "new list"])
        #expect(try stage.read { try $0.node("moved") } == GraphNode("of", ["new list"], rule))
        try stage.redo()
        #expect(try stage.read { try $0.keys() } == keys)
    }

    // MARK: Types that change

    private struct Memo: Codable, Sendable, Equatable {
        var text: String
    }

    private struct NewMemo: Codable, Sendable, Equatable {
        var title: String
    }

    private struct ColoredMemo: Codable, Sendable, Equatable {
        var text: String
        var color: String?
    }

    private let log = YapDatabaseUndo("undo", in: ["memos", "notes"])

    private func open(_ register: (inout YapDatabaseConfiguration) -> Void) throws -> YapDatabaseConnection {
        let database = try folder.open { register(&$0) }
        try database.blocking.register(log)
        return database.newConnection()
    }

    private func openFirst() throws -> YapDatabaseConnection {
        try open { $0.register(Memo.self, inCollection: "memos") }
    }

    private func openSecond() throws -> YapDatabaseConnection {
        try open {
            $0.register(NewMemo.self, inCollection: "memos", version: 2) { $0.rename("text", to: "title") }
        }
    }

    private func setMemos(_ connection: YapDatabaseConnection) throws {
        let set = { (text: String, transaction: YapDatabaseReadWriteTransaction) in
            try transaction.setObject(Memo(text: text), forKey: "1", inCollection: "memos")
        }
        try connection.blocking.readWrite { try set("old", $0) }
        for text in ["new", "newer"] {
            try connection.blocking.readWrite { transaction in
                try transaction[log].group(text) { try set(text, transaction) }
            }
        }
    }

    @Test func anUpgradeOfTheTypeIsNoConflictAndOldValuesAreStoredUpgraded() async throws {
        try setMemos(try openFirst())
        let connection = try openSecond()
        #expect(try await connection.upgradeObjects(inCollection: "memos") == 1)
        func step(_ body: (YapDatabaseUndoWriteTransaction) throws -> YapDatabaseUndoResult?) throws
            -> String?
        {
            #expect(try connection.blocking.readWrite { try body($0[log])?.skippedRows } == [])
            return try connection.database.newConnection().blocking.read { transaction in
                let bytes = try transaction.serializedObject(forKey: "1", inCollection: "memos")
                #expect(try #require(bytes).withUnsafeBytes { try StoredForm($0).version } == 2)
                return try transaction.object(NewMemo.self, forKey: "1", inCollection: "memos")?.title
            }
        }
        #expect(try step { try $0.undo() } == "new")
        #expect(try step { try $0.undo() } == "old")
        #expect(try step { try $0.redo() } == "new")
        #expect(try step { try $0.redo() } == "newer")
        #expect(try await connection.upgradeObjects(inCollection: "memos") == 0)
    }

    @Test func aChangeOfAPropertyThatTheTypeDoesNotKnowIsAConflict() throws {
        try setMemos(try openFirst())
        let second = try open { $0.register(ColoredMemo.self, inCollection: "memos") }
        try second.blocking.readWrite {
            try $0.setObject(ColoredMemo(text: "newer", color: "red"), forKey: "1", inCollection: "memos")
        }
        let third = try openFirst()
        #expect(conflict { _ = try third.blocking.readWrite { try $0[log].undo() } }?.changedRows.count == 1)
    }

    @Test func aRowOfACollectionThatIsNotRegisteredIsAnErrorAndChangesNothing() throws {
        let first = try openFirst()
        try first.blocking.readWrite { transaction in
            try transaction.setObject(Memo(text: "old"), forKey: "1", inCollection: "memos")
            try transaction.note("old", "1")
            try transaction[log].group("Remove") {
                try transaction.removeObject(forKey: "1", inCollection: "notes")
                try transaction.removeObject(forKey: "1", inCollection: "memos")
            }
        }
        let second = try open { _ in }
        try second.blocking.readWrite { transaction in
            #expect(code { try transaction[log].undo() } == .missingRegistration)
            #expect(try !transaction.hasObject(forKey: "1", inCollection: "notes"))
            try transaction.note("goes on", "2")
        }
        #expect(try second.blocking.read { try $0[log].undoActionName } == "Remove")
        let third = try openFirst()
        _ = try third.blocking.readWrite { try $0[log].undo() }
        #expect(try third.blocking.read { try $0.allKeys(inCollection: "memos") } == ["1"])
    }
}

extension GraphNode {
    fileprivate func marked(_ mark: Int) -> GraphNode {
        var node = self
        node.mark = mark
        return node
    }
}

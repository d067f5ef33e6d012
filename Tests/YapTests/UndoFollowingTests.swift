import SQLite
import System
import Testing

@testable import Yap

/// Undo with relationships, hooks and indexes, and its bounds.
@Suite struct UndoFollowingTests {
    private let folder: TestFolder
    private let graph = YapDatabaseRelationship("graph", version: "1")
    private let rule = YapDatabaseEdgeRules.deleteSourceIfDestinationDeleted

    init() throws { folder = try TestFolder() }

    // MARK: Relationships

    private func setList(_ transaction: YapDatabaseReadWriteTransaction, _ items: Int) throws {
        try transaction.set(GraphNode(), "list")
        for number in 0..<items {
            try transaction.set(GraphNode("of", ["list"], rule), "item \(number)")
        }
    }

    @Test func rowsThatARuleRemovesInAGroupComeBack() throws {
        let stage = try UndoStage(in: folder, graph)
        try stage.write { transaction in
            try setList(transaction, 3)
            try transaction.set(GraphNode("of", ["item 0"], rule), "part")
        }
        try stage.group("Delete List") { try $0.remove("list") }
        #expect(try stage.read { try $0.keys() } == [])
        try stage.undo()
        #expect(try stage.read { try $0.keys() } == ["item 0", "item 1", "item 2", "list", "part"])
        #expect(try stage.read { try $0[graph].count() } == 4)
        try stage.redo()
        #expect(try stage.read { try $0.keys() } == [])
        #expect(try stage.read { try $0[graph].count() } == 0)
    }

    @Test func rulesOfEarlierWritesOfTheTransactionAreNotPartOfTheGroup() throws {
        let stage = try UndoStage(in: folder, graph)
        try stage.write { transaction in
            try setList(transaction, 3)
            try transaction.remove("list")
            try transaction[stage.undo].group("Add") { try transaction.set(GraphNode(), "other") }
            try transaction.remove("none")
        }
        #expect(try stage.read { try $0.keys() } == ["other"])
        #expect(try stage.read { try $0[stage.undo].undoGroups().first?.changedRowsCount } == 1)
        try stage.undo()
        #expect(try stage.read { try $0.keys() } == [])
    }

    @Test func edgesOfUnchangedRowsComeBackWithTheirDestination() throws {
        let stage = try UndoStage(in: folder, graph)
        try stage.write { transaction in
            for key in ["a1", "a2"] { try transaction.set(GraphNode(), key) }
            try transaction.set(
                GraphNode("in", ["a1", "a2"], .deleteSourceIfAllDestinationsDeleted), "photo")
        }
        try stage.group("Delete Album") { try $0.remove("a1") }
        try stage.undo()
        #expect(try stage.read { try $0[graph].count() } == 2)
        try stage.redo()
        try stage.undo()
        try stage.write { try $0.remove("a2") }
        #expect(try stage.read { try $0.keys() } == ["a1", "photo"])
    }

    // MARK: Hooks

    /// A counter of all todos in a note.
    private let counting = YapDatabaseHooks(
        "counting", of: Todo.self, in: "todos",
        didModify: { change, transaction in
            if change.kind.contains(.inserted) { try Self.add(1, transaction) }
        },
        didRemove: { _, transaction in try Self.add(-1, transaction) })

    private static func add(_ number: Int, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let count = try transaction.object(String.self, forKey: "count", inCollection: "notes")
        try transaction.note("\((count.flatMap { Int($0) } ?? 0) + number)", "count")
    }

    @Test func rowsThatHooksChangeHaveTheirFormerValuesAfterAnUndo() throws {
        let stage = try UndoStage(in: folder, counting)
        try stage.write { try $0.set("first", "a") }
        // The counter is changed first by the group, and then by the hook.
        try stage.group("Add") { transaction in
            try transaction.note("10", "count")
            try transaction.set("second", "b")
            try transaction.removeObject(forKey: "a", inCollection: "todos")
            try transaction.set("third", "c")
        }
        #expect(try stage.notes() == ["count 11"])
        try stage.undo()
        #expect(try stage.notes() == ["count 1"])
        #expect(try stage.todos() == ["a first 0"])
        try stage.redo()
        #expect(try stage.notes() == ["count 11"])
        #expect(try stage.todos() == ["b second 0", "c third 0"])
    }

    @Test func aHookMayUseGroupsItself() throws {
        let log = YapDatabaseUndo("undo", in: ["todos", "notes"])
        let hooks = YapDatabaseHooks(
            "grouping", of: Todo.self, in: "todos",
            didModify: { change, transaction in
                let title = try change.object?.title ?? "none"
                try transaction[log].group("Hook") { try transaction.note(title, change.key) }
            })
        let stage = try UndoStage(log, in: folder, hooks)
        try stage.group("One") { try $0.set("one", "a") }
        try stage.group("Two") { try $0.set("two", "a") }
        #expect(try stage.actionNames() == [["Two", "One"], []])
        try stage.undo()
        #expect(try stage.notes() == ["a one"])
        try stage.write { try $0.set("three", "b") }
        #expect(try stage.actionNames() == [["Hook", "One"], []])
    }

    // MARK: Indexes

    @Test func indexesFollowAnUndo() throws {
        let stage = try UndoStage(in: folder)
        try stage.database.blocking.register(WordCounter(), withName: "words")
        func count(_ word: String) throws -> Int {
            try stage.read { try $0.ext("words", as: WordCounter.self).count(of: word) }
        }
        try stage.write { try $0.set("buy milk", "a") }
        try stage.group("Sell") { transaction in
            try transaction.set("sell milk", "a")
            try transaction.set("sell bread", "b")
        }
        try stage.undo()
        #expect(try (count("buy"), count("sell")) == (1, 0))
        try stage.redo()
        #expect(try (count("buy"), count("sell")) == (0, 2))
    }

    // MARK: Bounds

    private func stage(groups: Int = 100, rows: Int = 100, bytes: Int = 1 << 20) throws -> UndoStage {
        try UndoStage(
            YapDatabaseUndo(
                "undo", in: ["todos", "notes"], groupsMax: groups, rowsPerGroupMax: rows, bytesMax: bytes),
            in: folder)
    }

    @Test func beyondTheirMaximumTheOldestGroupsAreDeleted() throws {
        let stage = try stage(groups: 3)
        for number in 1...5 { try stage.group("\(number)") { try $0.set("\(number)", "a") } }
        #expect(try stage.actionNames() == [["5", "4", "3"], []])
        #expect(try stage.recordedRows() == 3)
        try stage.undo()
        try stage.undo()
        #expect(try stage.actionNames() == [["3"], ["4", "5"]])
    }

    @Test func beyondTheMaximumOfBytesTheOldestGroupsAreDeleted() throws {
        let stage = try stage(bytes: 2_500)
        for number in 1...4 {
            let text = String(repeating: "\(number)", count: 500)
            try stage.group("\(number)") { try $0.note(text, "\(number % 2)") }
        }
        // The first two have no former value.
        #expect(try stage.actionNames() == [["4", "3"], []])
        let bytes = try stage.read { try $0[stage.undo].undoGroups().map(\.bytesCount) }
        #expect(bytes.allSatisfy { (1_000..<1_100).contains($0) })
        try stage.undo()
        #expect(try stage.actionNames() == [["3"], ["4"]])
    }

    @Test func aTooLargeGroupIsUndoneAndTheTransactionContinues() throws {
        let stage = try stage(rows: 10, bytes: 2_000)
        try stage.write { transaction in
            for number in 0..<11 { try transaction.set("old", "\(number)") }
        }
        try stage.group("Kept") { try $0.note("text", "1") }
        let bodies: [(YapDatabaseReadWriteTransaction) throws -> Void] = [
            { transaction in for number in 0..<11 { try transaction.set("new", "\(number)") } },
            { try $0.removeAllObjects(inCollection: "todos") },
            { try $0.removeAllObjectsInAllCollections() },
            { try $0.note(String(repeating: "x", count: 2_000), "2") },
            { transaction in
                // An error of a write that the group catches must not hide it.
                do { try transaction.removeAllObjects(inCollection: "todos") } catch {}
            },
        ]
        for body in bodies {
            try stage.write { transaction in
                #expect(
                    code { try transaction[stage.undo].group("Large") { try body(transaction) } }
                        == .undoGroupTooLarge)
                #expect(try transaction.numberOfKeys(inCollection: "todos") == 11)
                try transaction.note("after", "3")
            }
        }
        #expect(try stage.notes() == ["1 text", "3 after"])
        #expect(try stage.actionNames() == [["Kept"], []])
        let name = String(repeating: "n", count: 1_001)
        #expect(code { try stage.group(name) { try $0.note("x", "4") } } == .invalidExtension)
    }

    @Test func clearingOfCollectionsIsUndone() throws {
        let stage = try stage()
        try stage.write { transaction in
            for number in 0..<20 { try transaction.set("old", "\(number)", stamp: 1) }
            try transaction.note("text", "1")
        }
        let before = try stage.todos()
        try stage.group("Clear") { transaction in
            try transaction.removeAllObjects(inCollection: "todos")
            try transaction.set("new", "x")
        }
        try stage.group("Clear All") { transaction in
            try transaction.note("later", "2")
            try transaction.removeAllObjectsInAllCollections()
            try transaction.set("last", "y")
        }
        #expect(try stage.todos() == ["y last 0"])
        try stage.undo()
        #expect(try stage.todos() == ["x new 0"])
        #expect(try stage.notes() == ["1 text"])
        try stage.undo()
        #expect(try stage.todos() == before)
    }

    @Test func limitsOfNothingAreRefused() throws {
        for undo in [
            YapDatabaseUndo("none", in: nil, groupsMax: 0),
            YapDatabaseUndo("none", in: nil, rowsPerGroupMax: 0),
            YapDatabaseUndo("none", in: nil, bytesMax: -1),
        ] {
            let database = try folder.open()
            #expect(code { try database.blocking.register(undo) } == .invalidExtension)
            try database.blocking.close()
        }
    }

    @Test func aLogOfAllCollectionsRecordsEachOfThem() throws {
        let stage = try UndoStage(YapDatabaseUndo("undo", in: nil), in: folder, graph)
        try stage.write { try setList($0, 2) }
        try stage.group("All") { transaction in
            try transaction.set("todo", "a")
            try transaction.note("note", "1")
            try transaction.removeAllObjectsInAllCollections()
        }
        try stage.undo()
        #expect(try stage.read { try $0.keys() } == ["item 0", "item 1", "list"])
        #expect(try stage.read { try $0.numberOfKeysInAllCollections() } == 3)
        try stage.redo()
        #expect(try stage.read { try $0.numberOfKeysInAllCollections() } == 0)
    }
}

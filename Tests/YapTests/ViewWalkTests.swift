import SQLite
import Testing

@testable import Yap

/// One view through each kind of write, read on several connections after each.
@Suite struct ViewWalkTests {
    private typealias View = YapDatabaseAutoView<Todo, String>

    private let folder: TestFolder
    private let database: YapDatabase
    private let writer: YapDatabaseConnection
    private let reader: YapDatabaseConnection
    private let view = View(
        "open", of: Todo.self, in: "todos", version: "1", group: { $0.isDone ? nil : "open" },
        sort: [.by(\.priority)])

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        writer = database.newConnection()
        reader = database.newConnection()
    }

    private func set(
        _ key: String, _ priority: Int, isDone: Bool = false, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try transaction.setObject(
            Todo(title: key, isDone: isDone, priority: priority), forKey: key, inCollection: "todos")
    }

    private func setRows(_ count: Int, _ database: YapDatabase? = nil) throws {
        try (database ?? self.database).newConnection().blocking.readWrite { transaction in
            for number in (0..<count).reversed() { try set("k\(number)", number * 10, transaction) }
        }
    }

    private func keys(_ numbers: Range<Int>) -> [String] { numbers.map { "k\($0)" } }

    /// Each way to read the view gives these keys.
    private func check(
        _ expected: [String], _ connections: [YapDatabaseConnection], sourceLocation: SourceLocation
    ) throws {
        for connection in connections {
            try connection.blocking.read { transaction throws in
                let part = try transaction[view]
                let count = expected.count
                #expect(
                    try part.groups() == (count == 0 ? [] : ["open"])
                        && part.count() == count && part.count(in: "open") == count
                        && part.counts() == (count == 0 ? [:] : ["open": count]),
                    sourceLocation: sourceLocation)
                #expect(try part.keys(in: "open") == expected, sourceLocation: sourceLocation)
                #expect(try part.rows(in: "open").map(\.object.title) == expected)
                #expect(try part.keys(in: "open").reversed() == Array(expected.reversed()))
                #expect(try part.keys(in: "open", 10..<20) == Array(expected.dropFirst(10).prefix(10)))
                #expect(try part.first(in: "open")?.key == expected.first)
                #expect(try part.last(in: "open")?.key == expected.last)
                #expect(try part.row(at: count, in: "open") == nil)
                for (index, key) in expected.enumerated() where index % 9 == 0 {
                    let place = try part.place(ofKey: key)
                    #expect(place?.group == "open" && place?.index == index)
                    #expect(try part.row(at: index, in: "open")?.key == key)
                }
            }
        }
    }

    private func check(_ expected: [String], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try check(expected, [writer, reader, database.newConnection()], sourceLocation: sourceLocation)
        try reader.blocking.flushMemory()
        try check(expected, [reader], sourceLocation: sourceLocation)
    }

    @Test func aHundredRowsAreInOrderOnEachConnectionAfterEachKindOfWrite() throws {
        try database.blocking.register(view)
        try check([])
        try setRows(100)
        var expected = keys(0..<100)
        try check(expected)

        // An update of the object that keeps its place, and of the metadata alone.
        try writer.blocking.readWrite { transaction in
            try set("k50", 501, transaction)
            try transaction.replaceMetadata(Stamp(milliseconds: 1), forKey: "k3", inCollection: "todos")
        }
        try check(expected)

        // To the end, to the beginning, and between two rows.
        try writer.blocking.readWrite { transaction in
            try set("k0", 5_000, transaction)
            try set("k99", -1, transaction)
            try set("k40", 705, transaction)
        }
        expected.removeAll { ["k0", "k99", "k40"].contains($0) }
        expected = ["k99"] + expected + ["k0"]
        expected.insert("k40", at: try #require(expected.firstIndex(of: "k70")) + 1)
        try check(expected)

        // Out of the view, and into it again.
        try writer.blocking.readWrite { try set("k10", 100, isDone: true, $0) }
        expected.removeAll { $0 == "k10" }
        try check(expected)
        try writer.blocking.readWrite { try set("k10", 100, $0) }
        expected.insert("k10", at: try #require(expected.firstIndex(of: "k11")))
        try check(expected)

        try writer.blocking.readWrite { try $0.removeObject(forKey: "k20", inCollection: "todos") }
        try writer.blocking.readWrite {
            try $0.removeObjects(forKeys: ["k99", "k0", "k55", "none"], inCollection: "todos")
        }
        expected.removeAll { ["k20", "k99", "k0", "k55"].contains($0) }
        try check(expected)
        try writer.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        try check([])
        try setRows(5)
        try check(keys(0..<5))
        try writer.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        try check([])
    }

    @Test func aViewOfADatabaseInMemoryIsAsOneInAFile() throws {
        let memory = try YapDatabase(inMemory: YapDatabaseOptions()) {
            $0.register(Todo.self, metadata: Stamp.self, inCollection: "todos")
        }
        try memory.blocking.register(view)
        try setRows(100, memory)
        let (one, other) = (memory.newConnection(), memory.newConnection())
        try check(keys(0..<100), [one, other], sourceLocation: #_sourceLocation)
        try one.blocking.readWrite { transaction in
            try set("k0", 5_000, transaction)
            try transaction.removeObjects(forKeys: keys(1..<20), inCollection: "todos")
        }
        try check(keys(20..<100) + ["k0"], [one, other], sourceLocation: #_sourceLocation)
    }

    // MARK: Pages

    /// The pages of the group have up to 512 rows.
    @Test func rowsAreInOrderWherePagesGrowSplitAndDisappear() throws {
        try database.blocking.register(view)
        try setRows(1_500)
        var expected = keys(0..<1_500)
        try check(expected)
        #expect(try pagesCount() >= 3)

        // Rows at the head, at the tail and in the middle, one commit each.
        for number in 0..<3 {
            try writer.blocking.readWrite { transaction in
                try set("head\(number)", -1 - number, transaction)
                try set("tail\(number)", 100_000 + number, transaction)
                try set("middle\(number)", 7_000 + number + 1, transaction)
            }
            expected.insert("head\(number)", at: 0)
            expected.append("tail\(number)")
            let before = number == 0 ? "k700" : "middle\(number - 1)"
            expected.insert("middle\(number)", at: try #require(expected.firstIndex(of: before)) + 1)
        }
        try check(expected)

        // The rows of whole pages go, and those at both ends.
        try writer.blocking.readWrite {
            try $0.removeObjects(forKeys: keys(100..<1_300), inCollection: "todos")
        }
        let removed = Set(keys(100..<1_300))
        expected.removeAll { removed.contains($0) }
        try check(expected)
        #expect(try pagesCount() <= 2)
        try writer.blocking.readWrite {
            try $0.removeObjects(forKeys: [expected[0], expected[expected.count - 1]], inCollection: "todos")
        }
        try check(Array(expected.dropFirst().dropLast()))
        try writer.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try pagesCount() == 0)
        try setRows(10)
        try check(keys(0..<10))
    }

    private func pagesCount() throws -> Int {
        try reader.blocking.read { transaction in
            try transaction.sqlite.withStatement("SELECT count(*) FROM viewPages_open") { statement in
                try statement.step() ? Int(statement.int64(at: 0)) : -1
            }
        }
    }

    // MARK: Transactions

    @Test func aRowThatIsRemovedTwiceInATransactionLeavesOnce() throws {
        try database.blocking.register(view)
        try setRows(5)
        var list = ViewReader(view, .sorted, log: database.log)
        _ = try reader.blocking.read { try list.read($0) }
        try writer.blocking.readWrite { transaction in
            try transaction.removeObject(forKey: "k1", inCollection: "todos")
            try transaction.removeObject(forKey: "k1", inCollection: "todos")
            try transaction.removeObjects(forKeys: ["k1", "k3", "k3"], inCollection: "todos")
            #expect(try transaction[view].keys(in: "open") == ["k0", "k2", "k4"])
        }
        try check(["k0", "k2", "k4"])
        let change = try reader.blocking.read { try list.read($0) }
        #expect(change.rowChanges.map(\.kind) == [.delete, .delete])
        #expect(change.rowChanges.map(\.original?.row) == [3, 1])
        // The same row, removed again after it was set again.
        try writer.blocking.readWrite { transaction in
            for _ in 0..<2 {
                try set("k1", 10, transaction)
                try transaction.removeObject(forKey: "k1", inCollection: "todos")
            }
        }
        try check(["k0", "k2", "k4"])
        #expect(try reader.blocking.read { try list.read($0) }.isEmpty)
    }

    @Test func rowsMayBeWrittenWhileThoseOfAViewAreLookedAt() throws {
        try database.blocking.register(view)
        try setRows(20)
        try writer.blocking.readWrite { transaction throws in
            for (index, key) in try transaction[view].keys(in: "open").enumerated() where index % 2 == 0 {
                try transaction.removeObject(forKey: key, inCollection: "todos")
            }
            for row in try transaction[view].rows(in: "open", 0..<5) {
                try set("new " + row.key, row.object.priority + 1, transaction)
            }
        }
        let odd = (0..<20).filter { $0 % 2 == 1 }.map { "k\($0)" }
        try check(odd.prefix(5).flatMap { [$0, "new " + $0] } + odd.dropFirst(5))
    }

    @Test func aViewThatIsUnregisteredIsFilledAgainWhenItIsRegistered() throws {
        try setRows(100)
        try database.blocking.register(view)
        try check(keys(0..<100))
        try database.blocking.unregister("open")
        #expect(code { try check([]) } == .extensionNotRegistered)
        try writer.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: keys(0..<50), inCollection: "todos")
            try set("k1000", 10_000, transaction)
        }
        try database.blocking.register(view)
        try check(keys(50..<100) + ["k1000"])
    }
}

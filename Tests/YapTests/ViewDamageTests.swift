import SQLite
import Testing

@testable import Yap

/// Views whose counts are damaged in the file. Two groups: "a" of several pages, and "b".
@Suite struct ViewDamageTests {
    private typealias View = YapDatabaseAutoView<Todo, String>

    private static let rowsCount = 1_200

    private let folder: TestFolder
    private let database: YapDatabase
    private let view = View(
        "all", of: Todo.self, in: "todos", version: "1", group: { $0.isDone ? "b" : "a" },
        sort: [.by(\.priority)])

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        try database.blocking.register(view)
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<Self.rowsCount { try Self.set(number, transaction) }
            try Self.set(-1, isDone: true, transaction)
        }
    }

    private static func set(
        _ number: Int, isDone: Bool = false, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try transaction.setObject(
            Todo(title: "", isDone: isDone, priority: number), forKey: "\(number)", inCollection: "todos")
    }

    private func damage(_ sql: String) throws {
        try database.writer { core in
            try core.store.sqlite.transaction(.immediate) { try core.store.sqlite.execute(sql) }
        }
    }

    /// Reads all that depends on counts. Nothing traps.
    private func readAll(_ transaction: YapDatabaseReadTransaction) throws {
        let part = try transaction[view]
        _ = try part.count()
        _ = try part.keys(in: "a")
        _ = try part.keys(in: "a", 1_000..<Int.max)
        _ = try part.row(at: 1_100, in: "a")
        _ = try part.place(ofKey: "1100")
        _ = try part.last(in: "a")
        _ = try part.indexes(in: "a") { $0.priority < 100 ? .before : .within }
    }

    @Test(
        arguments: ["9223372036854775807", "4611686018427387904", "-1", "-9223372036854775808", "513"],
        ["viewPages_all", "viewGroups_all"])
    func aCountThatIsImpossibleIsAnErrorOfReadsAndIsMendedByWrites(count: String, table: String) throws {
        try damage("UPDATE \(table) SET count = \(count)")
        if table == "viewPages_all" || count != "513" {
            #expect(code { try database.newConnection().blocking.read { try readAll($0) } } == .corrupt)
        }
        // In each page of both groups, at their ends too.
        try database.newConnection().blocking.readWrite { transaction in
            for number in stride(from: 0, to: Self.rowsCount, by: 100) {
                try Self.set(number, isDone: number % 200 == 0, transaction)
            }
            try transaction.removeObject(forKey: "\(Self.rowsCount - 1)", inCollection: "todos")
        }
        guard table == "viewPages_all" || count != "513" else { return }
        try database.newConnection().blocking.read { transaction in
            try readAll(transaction)
            let part = try transaction[view]
            #expect(try part.counts() == ["a": Self.rowsCount - 7, "b": 7])
            #expect(try part.keys(in: "a").count == Self.rowsCount - 7)
            #expect(try part.place(ofKey: "1198")?.index == Self.rowsCount - 8)
        }
    }

    @Test func aGroupThatCountsTooFewRowsIsNotRemovedWhileItHasRows() throws {
        try damage("UPDATE viewGroups_all SET count = 1")
        try database.newConnection().blocking.readWrite {
            try $0.removeObject(forKey: "5", inCollection: "todos")
        }
        try database.newConnection().blocking.read { transaction throws in
            #expect(try transaction[view].counts() == ["a": Self.rowsCount - 1, "b": 1])
            #expect(try transaction[view].keys(in: "a").count == Self.rowsCount - 1)
        }
    }

    @Test func aListOfAViewThatCountsRowsWhichDoNotExistEndsWithAnError() async throws {
        try damage("UPDATE viewGroups_all SET count = 1099511627776")
        var changes = database.newConnection().changes(of: view).makeAsyncIterator()
        let error = await #expect(throws: YapDatabaseError.self) { _ = try await changes.next() }
        #expect(error?.code == .corrupt)
    }

    @Test func pagesThatAreMissingAreNoTrap() throws {
        try damage("DELETE FROM viewPages_all")
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<10 {
                try transaction.removeObject(forKey: "\(number)", inCollection: "todos")
            }
        }
        try database.newConnection().blocking.read { try readAll($0) }
        #expect(
            try database.newConnection().blocking.read { try $0[view].count(in: "a") } == Self.rowsCount - 10)
    }
}

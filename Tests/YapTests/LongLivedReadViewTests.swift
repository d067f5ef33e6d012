import Testing

@testable import Yap

/// Views and indexes in a long-lived read: those of the commit at which it stands.
struct LongLivedReadViewTests {
    private typealias View = YapDatabaseAutoView<Todo, Int>
    private typealias Filtered = YapDatabaseFilteredView<Todo, Int>
    private typealias List = YapDatabaseViewSections<Int, Todo>

    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let byPriority = View(
        "byPriority", of: Todo.self, in: "todos", version: "1", group: { $0.priority }, sort: [.by(\.title)])
    private let short: Filtered
    private let index = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.title)
    }
    private let search = YapDatabaseFullTextSearch("search", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.title)
    }

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        short = Filtered("short", of: byPriority, version: "5") { _, _, todo in todo.title.count <= 5 }
        try database.blocking.register(byPriority)
        try database.blocking.register(short)
        try database.blocking.register(index)
        try database.blocking.register(search)
        try set("1", "milk", 1)
        try set("2", "eggs", 1)
        try set("3", "marmalade", 2)
    }

    private func set(_ key: String, _ title: String, _ priority: Int) throws {
        try connection.blocking.readWrite {
            try $0.setObject(Todo(title: title, priority: priority), forKey: key, inCollection: "todos")
        }
    }

    private func titles(_ list: List) -> [Int: [String]] {
        Dictionary(uniqueKeysWithValues: list.sections.map { ($0.group, $0.rows.map(\.title)) })
    }

    /// What all extensions find.
    private func found(_ transaction: YapDatabaseReadTransaction) throws -> [[String]] {
        [
            try transaction[byPriority].keys(in: 1), try transaction[short].keys(in: 1),
            try transaction[index].keys(where: { $0.title == "eggs" }),
            try transaction[search].keys(.words("eggs")),
        ]
    }

    @Test func extensionsAreReadAtTheSnapshotAndAtTheNextOneAfterAMove() throws {
        let list = try connection.blocking.beginLongLivedRead()
        let before = [["2", "1"], ["2", "1"], ["2"], ["2"]]
        #expect(try list.blocking.read(found) == before)
        try set("2", "bread", 3)
        try set("4", "eggs", 1)
        #expect(try connection.blocking.read(found) == [["4", "1"], ["4", "1"], ["4"], ["4"]])
        #expect(try list.blocking.read(found) == before)
        // One that begins to be used only now, too.
        let other = try connection.blocking.beginLongLivedRead()
        try connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "todos") }
        #expect(try other.blocking.read(found) == [["4", "1"], ["4", "1"], ["4"], ["4"]])
        #expect(try list.blocking.read(found) == before)
        try list.blocking.moveToNewest()
        #expect(try list.blocking.read(found) == [[], [], [], []])
    }

    @Test func aListFollowsAViewFromSnapshotToSnapshot() async throws {
        let list = try await connection.beginLongLivedRead()
        var (state, shown) = (YapDatabaseViewState(byPriority), List())
        let first = try await list.changes(of: &state)
        shown.apply(first)
        #expect(first.isReset && first.snapshot == list.snapshot)
        #expect(titles(shown) == [1: ["eggs", "milk"], 2: ["marmalade"]])

        try set("4", "bread", 1)
        try set("2", "eggs", 3)
        let still = try await list.changes(of: &state)
        #expect(still.isEmpty && !still.isReset)
        try await list.moveToNewest()
        let change = try await list.changes(of: &state)
        #expect(!change.isReset && change.snapshot == list.snapshot && change.rowChanges.count == 2)
        shown.apply(change)
        #expect(titles(shown) == [1: ["bread", "milk"], 2: ["marmalade"], 3: ["eggs"]])
        #expect(state.mappings.sections.map(\.rowCount) == [2, 1, 1])

        for number in 0..<400 { try set("5", "\(number)", 2) }
        try await list.moveToNewest()
        let reset = try await list.changes(of: &state)
        #expect(reset.isReset)
        shown.apply(reset)
        #expect(titles(shown) == [1: ["bread", "milk"], 2: ["399", "marmalade"], 3: ["eggs"]])
    }

    @Test func aListFollowsAViewOnTheCallersThread() throws {
        let list = try connection.blocking.beginLongLivedRead()
        var (state, shown) = (YapDatabaseViewState(byPriority, sections: .only([1])), List())
        shown.apply(try list.blocking.changes(of: &state))
        try set("1", "milk", 2)
        try list.blocking.moveToNewest()
        let change = try list.blocking.changes(of: &state)
        shown.apply(change)
        #expect(titles(shown) == [1: ["eggs"]])
        #expect(!change.isReset && change.rowChanges.map(\.kind) == [.delete])
        list.end()
        #expect(code { _ = try list.blocking.changes(of: &state) } == .transactionEnded)
        #expect(state.mappings.totalCount == 1)
    }

    @Test func anExtensionThatIsReplacedOrUnregisteredIsReadAtTheSnapshot() throws {
        let list = try connection.blocking.beginLongLivedRead()
        let rows: (YapDatabaseReadTransaction) throws -> [[String]] = { transaction in
            [try transaction[short].keys(in: 1), try transaction[index].keys(where: { $0.title == "eggs" })]
        }
        // First used after the changes: it is at the snapshot all the same.
        try connection.blocking.readWrite { transaction in
            try transaction[short].setFilter(version: "4") { _, _, todo in todo.title == "eggs" }
        }
        try database.blocking.unregister("titles")
        #expect(try list.blocking.read(rows) == [["2", "1"], ["2"]])
        try list.blocking.moveToNewest()
        #expect(try list.blocking.read { try $0[short].keys(in: 1) } == ["2"])
        #expect(code { _ = try list.blocking.read(rows) } == .extensionNotRegistered)
    }
}

import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// `connection.changes(of:)`: a list that follows a view.
@Suite struct ViewObservationTests {
    struct Task: Codable, Sendable, Equatable {
        var title: String
        var list: String
    }

    private typealias View = YapDatabaseAutoView<Task, String>
    private typealias List = YapDatabaseViewSections<String, Task>

    private let folder: TestFolder
    private let database: YapDatabase
    private let writer: YapDatabaseConnection
    private let connection: YapDatabaseConnection
    private let view = View(
        "tasks", of: Task.self, in: "tasks", version: "1", group: { $0.list }, sort: [.by(\.title)])

    init() throws {
        folder = try TestFolder()
        database = try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        writer = database.newConnection()
        connection = database.newConnection()
        try database.blocking.register(view)
        try set("1", "milk", "home")
        try set("2", "bread", "home")
        try set("3", "report", "work")
    }

    private func set(_ key: String, _ title: String, _ list: String) throws {
        try writer.blocking.readWrite {
            try $0.setObject(Task(title: title, list: list), forKey: key, inCollection: "tasks")
        }
    }

    private func titles(_ list: List) -> [String: [String]] {
        Dictionary(uniqueKeysWithValues: list.sections.map { ($0.group, $0.rows.map(\.title)) })
    }

    @Test func theFirstChangeBringsEverything() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        let change = try #require(try await changes.next())
        #expect(change.isReset && change.rowChanges.isEmpty && change.snapshot == database.snapshot)
        var list = List()
        list.apply(change)
        #expect(titles(list) == ["home": ["bread", "milk"], "work": ["report"]])
    }

    @Test func aListFollowsInsertsMovesUpdatesAndDeletes() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        var list = List()
        list.apply(try #require(try await changes.next()))

        try set("4", "coffee", "home")
        var change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.insert] && change.sectionChanges.isEmpty)
        list.apply(change)
        #expect(titles(list)["home"] == ["bread", "coffee", "milk"])

        try set("2", "zucchini", "home")
        change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.move])
        #expect(change.row(at: YapDatabaseViewPath(section: 0, row: 2))?.key == "2")
        list.apply(change)
        #expect(titles(list)["home"] == ["coffee", "milk", "zucchini"])

        try await writer.readWrite { try $0.touchObject(forKey: "1", inCollection: "tasks") }
        change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.update] && change.rowChanges.first?.flags == .object)
        list.apply(change)

        try set("3", "report", "archive")
        change = try #require(try await changes.next())
        #expect(
            change.sectionChanges == [
                .delete(section: 1, group: "work"), .insert(section: 0, group: "archive"),
            ])
        list.apply(change)
        #expect(list.sections.map(\.group) == ["archive", "home"])

        try await writer.readWrite { try $0.removeAllObjects(inCollection: "tasks") }
        change = try #require(try await changes.next())
        list.apply(change)
        #expect(list.sections.isEmpty)
    }

    @Test func moreCommitsThanTheLogKeepsAreNoGapWhenTheyDoNotConcernTheView() throws {
        var reader = ViewReader(view, .sorted, log: database.log)
        #expect(try connection.blocking.read { try reader.read($0) }.isReset)
        let seen = CommitList()
        database.addInlineCommitObserver { seen.add($0) }
        for number in 0..<CommitLog.recordsMax + 10 {
            try writer.blocking.readWrite {
                try $0.setObject("\(number)", forKey: "n", inCollection: "notes")
            }
        }
        try set("5", "apples", "home")
        let concerning = seen.commits.filter { reader.isConcerned(by: $0) }
        #expect(concerning.map(\.snapshot) == [database.snapshot])
        let change = try connection.blocking.read { try reader.read($0) }
        #expect(!change.isReset && change.rowChanges.map(\.kind) == [.insert])
        #expect(!reader.isConcerned(by: try #require(seen.commits.last)))
    }

    @Test func aRowThatCameAndWentBetweenTwoReadsIsNoChange() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        _ = try await changes.next()
        try set("9", "passing", "home")
        try await writer.readWrite { try $0.removeObject(forKey: "9", inCollection: "tasks") }
        try set("5", "apples", "home")
        let change = try #require(try await changes.next())
        #expect(change.rowChanges.map(\.kind) == [.insert])
    }

    @Test func tooManyChangesForTheLogAreAReset() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        var list = List()
        list.apply(try #require(try await changes.next()))
        for number in 0..<300 { try set("k\(number)", "t\(number)", "home") }
        let change = try #require(try await changes.next())
        #expect(change.isReset)
        list.apply(change)
        #expect(list.sections.first?.rows.count == 302)
    }

    @Test func aWindowReadsItsRowsAlone() async throws {
        for number in 0..<50 { try set("k\(number)", "t\(number + 100)", "home") }
        let top = connection.changes(of: view, sections: .only(["home"]).rows(.first(3)))
        var changes = top.makeAsyncIterator()
        var list = List()
        list.apply(try #require(try await changes.next()))
        #expect(titles(list) == ["home": ["bread", "milk", "t100"]])
        try set("a", "a", "home")
        let change = try #require(try await changes.next())
        list.apply(change)
        #expect(Set(change.rowChanges.map(\.kind)) == [.insert, .delete])
        #expect(titles(list) == ["home": ["a", "bread", "milk"]])
        try await writer.readWrite { try $0.removeObject(forKey: "a", inCollection: "tasks") }
        list.apply(try #require(try await changes.next()))
        #expect(titles(list) == ["home": ["bread", "milk", "t100"]])
    }

    @Test func changesEndWithTheDatabaseAndFailWithoutTheView() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        _ = try await changes.next()
        try await database.unregister("tasks")
        await #expect(throws: YapDatabaseError.self) { _ = try await changes.next() }
        try await database.register(view)
        var again = connection.changes(of: view).makeAsyncIterator()
        #expect(try await again.next()?.isReset == true)
        try await database.close()
        #expect(try await again.next() == nil)
    }

    @Test func aViewThatWasRegisteredAnewIsAReset() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        _ = try await changes.next()
        try await database.unregister("tasks")
        try await database.register(view)
        #expect(try await changes.next()?.isReset == true)
    }

    @Test func aCommitOfAnotherProcessIsAReset() async throws {
        var changes = connection.changes(of: view).makeAsyncIterator()
        _ = try await changes.next()
        let other = try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        try await other.register(view)
        try await other.newConnection().readWrite {
            try $0.setObject(Task(title: "x", list: "other"), forKey: "x", inCollection: "tasks")
        }
        // Another process's commit is seen at the next transaction.
        _ = try await connection.read { try $0.hasObject(forKey: "1", inCollection: "notes") }
        let change = try #require(try await changes.next())
        #expect(change.isReset && change.mappings.sections.map(\.group) == ["home", "other", "work"])
    }

    @Test(arguments: TestSeed.values(count: 6))
    func listsOfAnyMappingsAreAtEachChangeAsTheViewIs(seed: UInt64) async throws {
        let random = SeededRandomSource(seed: seed)
        let ranges: [YapDatabaseViewRange] = [
            .all, .first(2), .last(3), .window(length: 3, offset: 1, from: .end),
            .flexible(length: 3, max: 5, growing: .bothSides),
        ]
        var mappings: YapDatabaseViewMappings<String> =
            random.next(in: 0..<2) == 0 ? .sorted : .only(["home", "nowhere", "work"])
        mappings = mappings.rows(ranges[random.next(in: 0..<ranges.count)])
        if random.next(in: 0..<2) == 0 { mappings = mappings.reversed() }
        if random.next(in: 0..<3) == 0 { mappings = mappings.consolidated(under: 5, as: "all") }
        var changes = connection.changes(of: view, sections: mappings).makeAsyncIterator()
        var list = List()
        list.apply(try #require(try await changes.next()))
        for _ in 0..<60 {
            for _ in 0...random.next(in: 0..<3) {
                let key = "\(random.next(in: 0..<9))"
                if random.next(in: 0..<4) == 0 {
                    try await writer.readWrite { try $0.removeObject(forKey: key, inCollection: "tasks") }
                } else {
                    let lists = ["home", "work", "garden"]
                    try set(key, "t\(random.next(in: 0..<20))", lists[random.next(in: 0..<3)])
                }
            }
            // So that there is a change in each round, in a row that no window leaves out.
            try await writer.readWrite { try $0.touchRow(forKey: "1", inCollection: "tasks") }
            try set("1", "t\(random.next(in: 0..<1000))", ["home", "work"][random.next(in: 0..<2)])
            guard let change = try await nextChange(&changes) else { continue }
            list.apply(change)
            let view = view
            let expected = try await connection.read { transaction in
                let part = try transaction[view]
                return try YapDatabaseViewSections(change.mappings) { path in
                    try #require(try part.row(at: path, change.mappings)).object
                }
            }
            #expect(list == expected)
        }
    }

    /// The next change; nil when the newest commit changed nothing in what is shown.
    private func nextChange(_ changes: inout YapDatabaseViewChanges<Task, String>.Iterator) async throws
        -> YapDatabaseViewChange<Task, String>?
    {
        var reader = changes.reader
        let copy = try await connection.read { [reader] transaction in
            var reader = reader
            return (try reader.read(transaction), reader)
        }
        reader = copy.1
        guard !copy.0.isEmpty else {
            changes.reader = reader
            return nil
        }
        return try await changes.next()
    }
}

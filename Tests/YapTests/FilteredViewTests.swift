import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// `YapDatabaseFilteredView`: a subset of a parent view.
@Suite struct FilteredViewTests {
    struct Task: Codable, Sendable, Equatable {
        var list: String? = "home"
        var priority = 0
    }

    private typealias Auto = YapDatabaseAutoView<Task, String>
    private typealias Filtered = YapDatabaseFilteredView<Task, String>
    private typealias View = YapDatabaseView<Task, String>

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open(_ views: [View]) throws -> YapDatabase {
        let database = try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    private static func parent(version: String = "1", list: String? = nil) -> Auto {
        Auto(
            "all", of: Task.self, in: "tasks", version: version,
            group: { task in task.list.map { list ?? $0 } }, sort: [.by(\.priority)])
    }

    private static func urgent(
        _ parent: View, _ name: String = "urgent", version: String = "1", from priority: Int = 50
    ) -> Filtered {
        Filtered(name, of: parent, version: version) { _, task in task.priority >= priority }
    }

    private func write(_ database: YapDatabase, _ body: (YapDatabaseReadWriteTransaction) throws -> Void)
        throws
    {
        try database.newConnection().blocking.readWrite(body)
    }

    private func setHundred(_ database: YapDatabase) throws {
        try write(database) { transaction in
            for number in 0..<100 { try transaction.set(Task(priority: number), "k\(number)") }
        }
    }

    private func keys(_ view: View, _ database: YapDatabase, in group: String = "home") throws -> [String] {
        try database.newConnection().blocking.read { try $0[view].keys(in: group) }
    }

    @Test func aParentThatIsNotRegisteredOrNoViewOfTheTypeIsRefused() throws {
        let parent = Self.parent()
        let database = try open([])
        #expect(code { try database.blocking.register(Self.urgent(parent)) } == .extensionDependencyMissing)
        let other = YapDatabaseAutoView("all", of: Task.self, in: "tasks", version: "1") { $0.priority }
        try database.blocking.register(other)
        #expect(code { try database.blocking.register(Self.urgent(parent)) } == .invalidExtension)
        try database.blocking.unregister("all")
        try database.blocking.register(Self.parent(version: "2"))
        #expect(code { try database.blocking.register(Self.urgent(parent)) } == .invalidExtension)
    }

    @Test func theRowsThatPassTheFilterHaveTheParentsGroupsAndOrder() throws {
        let parent = Self.parent()
        let urgent = Self.urgent(parent)
        let database = try open([parent, urgent])
        try setHundred(database)
        #expect(try keys(parent, database).count == 100)
        #expect(try keys(urgent, database) == (50..<100).map { "k\($0)" })
        try write(database) { transaction in
            try transaction.set(Task(priority: 75), "k1")
            try transaction.set(Task(priority: 2), "k99")
            try transaction.set(Task(list: "work", priority: 60), "k60")
            try transaction.set(Task(list: nil, priority: 61), "k61")
            try transaction.removeObject(forKey: "k62", inCollection: "tasks")
            // The same transaction sees it.
            #expect(try transaction[urgent].counts() == ["home": 47, "work": 1])
        }
        #expect(try keys(urgent, database).prefix(11).last == "k63")
        #expect(try keys(urgent, database, in: "work") == ["k60"])
        #expect(Set(try keys(urgent, database)).isSuperset(of: ["k1", "k75"]))
        try write(database) { try $0.removeAllObjectsInAllCollections() }
        #expect(try keys(urgent, database) == [])
    }

    @Test func rowsThatWereThereBeforeAreFilledInAndAFilterMaySeeGroupAndKey() throws {
        let parent = Self.parent()
        let database = try open([parent])
        try setHundred(database)
        let byKey = Filtered(
            "byKey", of: parent, version: "1", filterByKey: { $0 == "home" && $1 < "k11" && $2.priority > 0 })
        try database.blocking.register(byKey)
        #expect(try keys(byKey, database) == ["k1", "k10"])
    }

    @Test func anotherVersionOfTheFilterOrOfTheParentFillsTheViewAnew() throws {
        var database = try open([Self.parent(), Self.urgent(Self.parent())])
        try setHundred(database)
        try database.blocking.close()

        let few = Self.urgent(Self.parent(), version: "2", from: 98)
        database = try open([Self.parent(), few])
        #expect(try keys(few, database) == ["k98", "k99"])
        try database.blocking.close()

        let regrouped = Self.parent(version: "2", list: "one")
        let (first, second) = (
            Self.urgent(regrouped, version: "2", from: 98), Self.urgent(regrouped, "second", from: 99)
        )
        database = try open([regrouped, first, second])
        #expect(try keys(first, database) == [])
        #expect(try keys(first, database, in: "one") == ["k98", "k99"])
        try database.blocking.close()

        // The tables are kept when nothing changed.
        database = try open([regrouped, first, second])
        #expect(try keys(second, database, in: "one") == ["k99"])
    }

    @Test func aFilterOfAFilteredViewFollowsTheRoot() throws {
        let parent = Self.parent()
        let middle = Self.urgent(parent, "middle", from: 50)
        let last = Filtered("last", of: middle, version: "1") { _, task in task.priority < 60 }
        let database = try open([parent, middle, last])
        try setHundred(database)
        #expect(try keys(last, database) == (50..<60).map { "k\($0)" })
        try write(database) { transaction in
            try transaction.set(Task(priority: 10), "k50")
            try transaction.set(Task(list: "work", priority: 55), "k0")
        }
        #expect(try keys(last, database) == (51..<60).map { "k\($0)" })
        #expect(try keys(last, database, in: "work") == ["k0"])
    }

    @Test func unregisteringAParentUnregistersTheViewsThatDependOnIt() throws {
        let parent = Self.parent()
        let middle = Self.urgent(parent, "middle")
        let last = Self.urgent(middle, "last")
        let database = try open([parent, middle, last])
        try database.blocking.unregister("all")
        for view in [parent, middle, last] as [View] {
            #expect(code { _ = try keys(view, database) } == .extensionNotRegistered)
        }
        try setHundred(database)
        for view in [parent, middle, last] as [View] { try database.blocking.register(view) }
        #expect(try keys(last, database).count == 50)
        try database.blocking.unregister("last")
        #expect(try keys(middle, database).count == 50)
    }

    @Test func aViewWithoutRowsHasNoSections() async throws {
        let parent = Self.parent()
        let none = Self.urgent(parent, from: 1_000)
        let database = try open([parent, none])
        try await database.newConnection().readWrite { try $0.set(Task(), "a") }
        var changes = database.newConnection().changes(of: none).makeAsyncIterator()
        let change = try #require(try await changes.next())
        #expect(change.mappings.sections.isEmpty)
    }

    @Test func aListFollowsAFilteredView() async throws {
        let parent = Self.parent()
        let urgent = Self.urgent(parent)
        let database = try open([parent, urgent])
        let connection = database.newConnection()
        var changes = connection.changes(of: urgent).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Task>()
        list.apply(try #require(try await changes.next()))
        func step(_ task: Task, _ key: String) async throws -> [YapDatabaseViewRowChange.Kind] {
            try await connection.readWrite { try $0.set(task, key) }
            let change = try #require(try await changes.next())
            list.apply(change)
            return change.rowChanges.map(\.kind)
        }
        #expect(try await step(Task(priority: 60), "a") == [.insert])
        #expect(try await step(Task(priority: 50), "b") == [.insert])
        #expect(try await step(Task(priority: 70), "b") == [.move])
        #expect(try await step(Task(priority: 70), "b") == [.update])
        #expect(list.sections.map { $0.rows.map(\.priority) } == [[60, 70]])
        #expect(try await step(Task(priority: 1), "a") == [.delete])
        #expect(list.sections.map { $0.rows.map(\.priority) } == [[70]])
    }

    @Test func aFilteredViewIsNotReadWhenAnotherInstanceReplacesItsParent() throws {
        let parent = Self.parent()
        let urgent = Self.urgent(parent)
        let first = try open([parent, urgent])
        try setHundred(first)
        let second = try open([Self.parent(version: "2", list: "one")])
        #expect(code { _ = try keys(urgent, first) } == .extensionNotRegistered)
        try write(first) { try $0.set(Task(priority: 99), "k0") }
        try first.blocking.close()
        try second.blocking.close()
        let third = try open([parent, urgent])
        #expect(Set(try keys(urgent, third)) == Set((50..<100).map { "k\($0)" } + ["k0"]))
    }

    /// Drawn writes against a filter of the parent's rows.
    @Test(arguments: TestSeed.values(count: 8))
    func aFilteredViewIsAsAFilterOfItsParentsRowsHasIt(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let parent = Self.parent()
        let middle = Self.urgent(parent, "middle", from: 20)
        let last = Filtered("last", of: middle, version: "1") { group, task in
            group == "work" || task.priority < 80
        }
        func compare(_ transaction: YapDatabaseReadTransaction) throws {
            for group in ["home", "work", "garden"] {
                let rows = try transaction[parent].rows(in: group)
                let expected = rows.filter { $0.object.priority >= 20 }
                #expect(try transaction[middle].keys(in: group) == expected.map(\.key))
                let expectedLast = expected.filter { group == "work" || $0.object.priority < 80 }
                #expect(try transaction[last].keys(in: group) == expectedLast.map(\.key))
                #expect(try transaction[last].count(in: group) == expectedLast.count)
            }
        }
        var database = try open([parent, middle, last])
        for _ in 0..<60 {
            let fails = random.next(in: 0..<5) == 0
            try write(database) { transaction in
                for _ in 0...random.next(in: 0..<6) { try draw(random, transaction) }
                try compare(transaction)
                if fails { transaction.rollback() }
            }
            try database.newConnection().blocking.read { try compare($0) }
            if random.next(in: 0..<15) == 0 {
                try database.blocking.close()
                database = try open([parent, middle, last])
            }
        }
    }

    private func draw(_ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let key = "k\(random.next(in: 0..<30))"
        let task = Task(
            list: ["home", "work", "garden", nil][random.next(in: 0..<4)], priority: random.next(in: 0..<100))
        switch random.next(in: 0..<40) {
        case 0: try transaction.removeAllObjectsInAllCollections()
        case 1: try transaction.removeAllObjects(inCollection: "tasks")
        case 2...6: try transaction.removeObject(forKey: key, inCollection: "tasks")
        case 7...9: try transaction.replaceObject(task, forKey: key, inCollection: "tasks")
        case 10: try transaction.touchRow(forKey: key, inCollection: "tasks")
        default: try transaction.set(task, key)
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ task: FilteredViewTests.Task, _ key: String) throws {
        try setObject(task, forKey: key, inCollection: "tasks")
    }
}

import System
import TestSeed
import Testing

@testable import Yap

/// `YapDatabaseManualView`: rows stay where the app places them.
@Suite struct ManualViewTests {
    private typealias View = YapDatabaseManualView<Todo, String>

    typealias Ends = (lower: [UInt8]?, upper: [UInt8]?)

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func view(version: String = "1") -> View {
        View("list", of: Todo.self, in: "todos", groups: String.self, version: version)
    }

    private let view = Self.view()
    private let even = YapDatabaseFilteredView("even", of: Self.view(), version: "1") { _, todo in
        todo.priority % 2 == 0
    }

    private func open() throws -> YapDatabase {
        let database = try folder.open()
        try database.blocking.register(view)
        try database.blocking.register(even)
        return database
    }

    private func set(_ count: Int, _ database: YapDatabase) throws {
        try write(database) { transaction in
            for number in 0..<count {
                try transaction.setObject(
                    Todo(title: "t", priority: number), forKey: "\(number)", inCollection: "todos")
            }
        }
    }

    private func write(_ database: YapDatabase, _ body: (YapDatabaseReadWriteTransaction) throws -> Void)
        throws
    {
        try database.newConnection().blocking.readWrite(body)
    }

    private func keys(
        _ database: YapDatabase, in group: String = "a", _ view: YapDatabaseView<Todo, String>? = nil
    )
        throws -> [String]
    {
        try database.newConnection().blocking.read { try $0[view ?? self.view].keys(in: group) }
    }

    @Test func rowsAreWhereTheAppPlacesThem() throws {
        let database = try open()
        try set(6, database)
        try write(database) { transaction in
            let list = try transaction[view]
            #expect(try list.append("0", to: "a") && list.append("1", to: "a"))
            #expect(try list.insert("2", at: 1, in: "a") && list.insert("3", at: 0, in: "a"))
            #expect(try !list.append("0", to: "b") && !list.insert("9", at: 0, in: "a"))
            #expect(try list.keys(in: "a") == ["3", "0", "2", "1"])
            #expect(try list.move("3", to: 2, in: "a") && list.move("1", to: 0, in: "b"))
            #expect(try !list.move("5", to: 0, in: "a"))
        }
        #expect(try keys(database) == ["0", "2", "3"])
        #expect(try keys(database, in: "b") == ["1"])
        #expect(try keys(database, even) == ["0", "2"])
        try write(database) { transaction in
            let list = try transaction[view]
            #expect(try list.remove("0") && !list.remove("0"))
            #expect(try list.remove(at: 1, in: "a") && !list.remove(at: 7, in: "a"))
            try list.removeAll(in: "b")
        }
        #expect(try keys(database) == ["2"] && keys(database, in: "b") == [] && keys(database, even) == ["2"])
        try write(database) { try $0.removeObject(forKey: "2", inCollection: "todos") }
        #expect(try keys(database) == [] && keys(database, even) == [])
    }

    @Test func theOrderOutlivesARunThatWritesWithoutTheView() throws {
        var database = try open()
        try set(4, database)
        try write(database) { transaction in
            for key in ["2", "3", "0", "1"] { try transaction[view].append(key, to: "a") }
        }
        try database.blocking.close()
        database = try folder.open()
        try write(database) { transaction in
            // The last rowid is used again, by another row.
            try transaction.removeObject(forKey: "3", inCollection: "todos")
            try transaction.set("new", "new")
        }
        try database.blocking.close()
        database = try open()
        #expect(try keys(database) == ["2", "0", "1"])
        #expect(try database.newConnection().blocking.read { try $0[view].count() } == 3)
        try database.blocking.close()
        database = try folder.open()
        let other = Self.view(version: "2")
        try database.blocking.register(other)
        #expect(try keys(database, other) == [])
    }

    @Test func keysStayShortAndInOrder() throws {
        var last: [UInt8]?, first: [UInt8]?
        for _ in 0..<100_000 {
            let next = try #require(ViewOrderKey.between(last, nil))
            let before = try #require(ViewOrderKey.between(nil, first))
            if let last { #expect(last.lexicographicallyPrecedes(next)) }
            if let first { #expect(before.lexicographicallyPrecedes(first)) }
            (last, first) = (next, before)
        }
        #expect(last?.count ?? 99 <= 8 && first?.count ?? 99 <= 8)
    }

    @Test(
        arguments: [([1], [1, 1]), (nil, nil), (nil, [1]), ([255, 9], nil), ([7], nil), (nil, [250])]
            as [Ends])
    func spreadKeysAreBetweenTheirEnds(ends: Ends) throws {
        let keys = try #require(ViewOrderKey.spread(1_000, ends.lower, ends.upper))
        let all = (ends.lower.map { [$0] } ?? []) + keys + (ends.upper.map { [$0] } ?? [])
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    @Test func aListFollowsInsertionsAtOnePlaceThatRenewTheKeys() async throws {
        let database = try open()
        try set(900, database)
        let connection = database.newConnection()
        var (changes, evenChanges) = (
            connection.changes(of: view).makeAsyncIterator(), connection.changes(of: even).makeAsyncIterator()
        )
        var (list, evenList) = (
            YapDatabaseViewSections<String, Todo>(), YapDatabaseViewSections<String, Todo>()
        )
        list.apply(try #require(try await changes.next()))
        evenList.apply(try #require(try await evenChanges.next()))
        var expected: [Int] = []
        let view = view
        for start in stride(from: 0, to: 900, by: 30) {
            try await connection.readWrite { transaction in
                for number in start..<start + 30 {
                    try transaction[view].insert("\(number)", at: number < 2 ? number : 1, in: "a")
                }
            }
            for number in start..<start + 30 { expected.insert(number, at: number < 2 ? number : 1) }
            list.apply(try #require(try await changes.next()))
            evenList.apply(try #require(try await evenChanges.next()))
            #expect(list.sections.map { $0.rows.map(\.priority) } == [expected])
            #expect(evenList.sections.map { $0.rows.map(\.priority) } == [expected.filter { $0 % 2 == 0 }])
        }
    }

    /// Drawn placements and writes against arrays.
    @Test(arguments: TestSeed.values(count: 6))
    func aManualViewIsAsArraysHaveIt(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var database = try open()
        try set(20, database)
        var model: [String: [String]] = [:]
        for _ in 0..<80 {
            let before = model
            let fails = random.next(in: 0..<5) == 0
            try write(database) { transaction in
                for _ in 0...random.next(in: 0..<6) { try draw(random, transaction, &model) }
                if fails { transaction.rollback() }
            }
            if fails { model = before }
            for group in ["a", "b"] {
                let expected = model[group] ?? []
                #expect(try keys(database, in: group) == expected)
                #expect(try keys(database, in: group, even) == expected.filter { (Int($0) ?? 0) % 2 == 0 })
            }
            if random.next(in: 0..<20) == 0 {
                try database.blocking.close()
                database = try open()
            }
        }
    }

    private func draw(
        _ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction,
        _ model: inout [String: [String]]
    ) throws {
        let number = random.next(in: 0..<20)
        let (key, group) = ("\(number)", ["a", "b"][random.next(in: 0..<2)])
        let index = random.next(in: 0..<5)
        let isIn = model.values.contains { $0.contains(key) }
        let exists = try transaction.hasObject(forKey: key, inCollection: "todos")
        func leave() { for name in model.keys { model[name]?.removeAll { $0 == key } } }
        func enter() {
            model[group, default: []].insert(key, at: min(index, model[group, default: []].count))
        }
        switch random.next(in: 0..<30) {
        case 0:
            try transaction[view].removeAll(in: group)
            model[group] = []
        case 1:
            try transaction.removeAllObjectsInAllCollections()
            model = [:]
        case 2...4:
            #expect(try transaction[view].remove(key) == isIn)
            leave()
        case 5...10:
            #expect(try transaction[view].move(key, to: index, in: group) == isIn)
            if isIn {
                leave()
                enter()
            }
        case 11...13:
            try transaction.removeObject(forKey: key, inCollection: "todos")
            leave()
        case 14...19:
            try transaction.setObject(
                Todo(title: "x", priority: number), forKey: key, inCollection: "todos")
        default:
            #expect(try transaction[view].insert(key, at: index, in: group) == (exists && !isIn))
            if exists, !isIn { enter() }
        }
    }
}

import SQLite
import System
import Testing

@testable import Yap

/// `YapDatabaseAutoView`: which rows are in which group, and in which order.
@Suite struct AutoViewTests {
    struct Task: Codable, Sendable, Equatable {
        var title: String
        var list: String? = "home"
        var priority = 0
    }

    private typealias View = YapDatabaseAutoView<Task, String>

    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let view = Self.view()

    init() throws {
        folder = try TestFolder()
        database = try Self.open(folder)
        connection = database.newConnection()
        try database.blocking.register(view)
    }

    private static func open(_ folder: TestFolder) throws -> YapDatabase {
        try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
    }

    private static func view(version: String = "1") -> View {
        View(
            "open", of: Task.self, in: "tasks", version: version, group: { $0.list },
            sort: [.by(\.priority, .descending), .by(\.title)])
    }

    private func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try connection.blocking.readWrite(body)
    }

    private func read<Result>(_ body: (YapDatabaseViewTransaction<Task, String>) throws -> Result) throws
        -> Result
    {
        try connection.blocking.read { try body(try $0[view]) }
    }

    private func setFour() throws {
        try write { transaction in
            try transaction.set(Task(title: "milk", priority: 1), "a")
            try transaction.set(Task(title: "bread", priority: 1), "b")
            try transaction.set(Task(title: "rent", priority: 5), "c")
            try transaction.set(Task(title: "report", list: "work"), "d")
            try transaction.set(Task(title: "hidden", list: nil), "e")
        }
    }

    @Test func rowsAreGroupedAndSorted() throws {
        try setFour()
        #expect(try read { try $0.groups() } == ["home", "work"])
        #expect(try read { try $0.counts() } == ["home": 3, "work": 1])
        #expect(try read { try $0.count() } == 4)
        #expect(try read { try $0.keys(in: "home") } == ["c", "b", "a"])
        #expect(try read { try $0.rows(in: "home").map(\.object.title) } == ["rent", "bread", "milk"])
        #expect(try read { try $0.first(in: "home")?.key } == "c")
        #expect(try read { try $0.last(in: "home")?.key } == "a")
        #expect(try read { try $0.keys(in: "nowhere") } == [])
        #expect(try read { try $0.last(in: "nowhere") == nil })
        #expect(try read { try $0.count(in: "nowhere") } == 0)
    }

    @Test func rangesBeyondAGroupAreCutToIt() throws {
        try setFour()
        #expect(try read { try $0.keys(in: "home", 1..<3) } == ["b", "a"])
        #expect(try read { try $0.keys(in: "home", 2..<9) } == ["a"])
        #expect(try read { try $0.keys(in: "home", -5..<1) } == ["c"])
        #expect(try read { try $0.keys(in: "home", 3..<9) } == [])
        #expect(try read { try $0.keys(in: "home", 1..<1) } == [])
        #expect(try read { try $0.row(at: -1, in: "home") == nil })
        #expect(try read { try $0.row(at: Int.max, in: "home") == nil })
    }

    @Test func aChangeMovesARowWithinAndBetweenGroups() throws {
        try setFour()
        try write { try $0.set(Task(title: "milk", priority: 9), "a") }
        #expect(try read { try $0.keys(in: "home") } == ["a", "c", "b"])
        try write { try $0.set(Task(title: "milk", list: "work"), "a") }
        #expect(try read { try $0.keys(in: "home") } == ["c", "b"])
        #expect(try read { try $0.keys(in: "work") } == ["a", "d"])
        try write { try $0.set(Task(title: "milk", list: nil), "a") }
        #expect(try read { try $0.keys(in: "work") } == ["d"])
        try write { try $0.set(Task(title: "report", list: "home", priority: -1), "d") }
        #expect(try read { try $0.groups() } == ["home"])
        #expect(try read { try $0.keys(in: "home") } == ["c", "b", "d"])
    }

    @Test func removedRowsLeave() throws {
        try setFour()
        try write { try $0.removeObject(forKey: "b", inCollection: "tasks") }
        #expect(try read { try $0.keys(in: "home") } == ["c", "a"])
        try write { try $0.removeObjects(forKeys: ["c", "d", "e"], inCollection: "tasks") }
        #expect(try read { try $0.counts() } == ["home": 1])
        try write { try $0.removeAllObjects(inCollection: "tasks") }
        #expect(try read { try $0.counts() } == [:])
        try setFour()
        try write { try $0.removeAllObjectsInAllCollections() }
        #expect(try read { try $0.counts() } == [:])
        try setFour()
        #expect(try read { try $0.counts() } == ["home": 3, "work": 1])
    }

    @Test func theSameTransactionSeesWhatItWrote() throws {
        try setFour()
        try write { transaction in
            try transaction.set(Task(title: "first", priority: 10), "f")
            #expect(try transaction[view].keys(in: "home") == ["f", "c", "b", "a"])
            try transaction.removeObject(forKey: "f", inCollection: "tasks")
            #expect(try transaction[view].keys(in: "home") == ["c", "b", "a"])
            try transaction.removeAllObjectsInAllCollections()
            #expect(try transaction[view].counts() == [:])
            try transaction.set(Task(title: "new", list: "home"), "n")
            #expect(try transaction[view].place(ofKey: "n")?.group == "home")
            #expect(try transaction[view].counts() == ["home": 1])
        }
        #expect(try read { try $0.keys(in: "home") } == ["n"])
    }

    @Test func aTransactionThatFailsLeavesNoTrace() throws {
        try setFour()
        #expect(throws: Refused.self) {
            try write { transaction in
                try transaction.set(Task(title: "x", list: "new"), "x")
                try transaction.removeObjects(forKeys: ["a", "b", "c"], inCollection: "tasks")
                #expect(try transaction[view].groups() == ["new", "work"])
                throw Refused()
            }
        }
        #expect(try read { try $0.counts() } == ["home": 3, "work": 1])
        try write { try $0.set(Task(title: "x", list: "other"), "x") }
        #expect(try read { try $0.groups() } == ["home", "other", "work"])
        #expect(
            try database.newConnection().blocking.read { try $0[view].groups() } == ["home", "other", "work"])
    }

    @Test func aRowKnowsItsPlace() throws {
        try setFour()
        let place = try read { try $0.place(ofKey: "b") }
        #expect(place?.group == "home" && place?.index == 1)
        #expect(try read { try $0.place(ofKey: "e") == nil })
        #expect(try read { try $0.place(ofKey: "nothing") == nil })
    }

    @Test func aStretchOfASortedGroupIsFoundByAFewObjects() throws {
        try write { transaction in
            for number in 0..<100 {
                try transaction.set(Task(title: "t", priority: number / 10), "k\(number)")
            }
        }
        func indexes(_ wanted: ClosedRange<Int>) throws -> (Range<Int>, Int) {
            var count = 0
            let range = try read { view in
                try view.indexes(in: "home") { task in
                    count += 1
                    // The highest priority is the first.
                    return task.priority > wanted.upperBound
                        ? .before : task.priority < wanted.lowerBound ? .after : .within
                }
            }
            return (range, count)
        }
        #expect(try indexes(9...9).0 == 0..<10)
        #expect(try indexes(3...4).0 == 50..<70)
        #expect(try indexes(-5...(-1)).0 == 100..<100)
        #expect(try indexes(20...30).0 == 0..<0)
        #expect(try indexes(3...4).1 <= 14)
    }

    @Test func groupsMayBeAnyValue() throws {
        struct Day: Codable, Comparable, Hashable, Sendable {
            var year: Int
            var day: Int
            static func < (left: Day, right: Day) -> Bool { (left.year, left.day) < (right.year, right.day) }
        }
        let days = YapDatabaseAutoView("days", of: Task.self, in: "tasks", version: "1") { task in
            Day(year: 2000 + task.priority, day: task.title.count)
        }
        try setFour()
        try database.blocking.register(days)
        let expected = [Day(year: 2000, day: 6), Day(year: 2001, day: 4), Day(year: 2001, day: 5)]
        let groups = try connection.blocking.read { try $0[days].groups() }
        #expect(groups == expected + [Day(year: 2005, day: 4)])
    }

    @Test func textsThatSwiftTakesForEqualAreOneGroup() throws {
        try write { transaction in
            try transaction.set(Task(title: "1", list: "caf\u{e9}"), "a")
            try transaction.set(Task(title: "2", list: "cafe\u{301}"), "b")
        }
        #expect(try read { try $0.counts() } == ["caf\u{e9}": 2])
        #expect(
            try database.newConnection().blocking.read { try $0[view].keys(in: "cafe\u{301}") } == ["a", "b"])
    }

    @Test func aViewWithoutSortIsInTheOrderOfInsertion() throws {
        let plain = YapDatabaseAutoView("plain", of: Task.self, in: "tasks", version: "1", group: { $0.list })
        try database.blocking.register(plain)
        try setFour()
        try write { try $0.set(Task(title: "changed", priority: 7), "a") }
        #expect(try connection.blocking.read { try $0[plain].keys(in: "home") } == ["a", "b", "c"])
    }

    @Test func aViewMayGroupByKey() throws {
        let byLetter = YapDatabaseAutoView(
            "byLetter", of: Task.self, in: "tasks", version: "1",
            groupByKey: { key, _ in key.first.map(String.init) })
        try database.blocking.register(byLetter)
        try setFour()
        try write { try $0.set(Task(title: "x"), "alpha") }
        #expect(try connection.blocking.read { try $0[byLetter].keys(in: "a") } == ["a", "alpha"])
    }

    // MARK: Registering

    @Test func rowsThatWereThereBeforeAreFilledIn() throws {
        try database.blocking.unregister("open")
        try setFour()
        try database.blocking.register(Self.view())
        #expect(try read { try $0.keys(in: "home") } == ["c", "b", "a"])
    }

    @Test func aNewVersionIsFilledAnew() throws {
        try setFour()
        try database.blocking.close()
        let again = try Self.open(folder)
        let byTitle = View(
            "open", of: Task.self, in: "tasks", version: "2", group: { _ in "all" }, sort: [.by(\.title)])
        try again.blocking.register(byTitle)
        let connection = again.newConnection()
        #expect(try connection.blocking.read { try $0[byTitle].counts() } == ["all": 5])
        try connection.blocking.readWrite { try $0.set(Task(title: "a"), "z") }
        #expect(try connection.blocking.read { try $0[byTitle].first(in: "all")?.key } == "z")
    }

    @Test func aViewIsKeptWhenTheDatabaseIsOpenedAgain() throws {
        try setFour()
        try database.blocking.close()
        let again = try Self.open(folder)
        try again.blocking.register(Self.view())
        #expect(try again.newConnection().blocking.read { try $0[view].keys(in: "home") } == ["c", "b", "a"])
    }

    @Test func aViewOfAnotherTypeThanTheCollectionsIsRefused() throws {
        let wrong = YapDatabaseAutoView("wrong", of: Int.self, in: "tasks", version: "1") { $0 }
        #expect(code { try database.blocking.register(wrong) } == .typeMismatch)
        let unknown = YapDatabaseAutoView("unknown", of: Task.self, in: "other", version: "1") { $0.list }
        #expect(code { try database.blocking.register(unknown) } == .missingRegistration)
    }

    @Test func aRowThatEntersAndLeavesAgainInATransactionChangesNothing() throws {
        try setFour()
        try write { transaction in
            try transaction.set(Task(title: "x", list: "new"), "x")
            try transaction.removeObject(forKey: "x", inCollection: "tasks")
        }
        #expect(try read { try $0.counts() } == ["home": 3, "work": 1])
    }

    @Test func onlyTheGroupsThatAreReadAreObserved() throws {
        try setFour()
        func isObserved(_ query: (YapDatabaseViewTransaction<Task, String>) throws -> Void, _ task: Task)
            throws
            -> Bool
        {
            let reads = try connection.readNow(tracksReads: true) { try query(try $0[view]) }.reads
            let seen = CommitList()
            let id = database.addInlineCommitObserver { seen.add($0) }
            defer { database.removeCommitObserver(id) }
            try database.newConnection().blocking.readWrite { try $0.set(task, "a") }
            return try #require(reads).areChanged(by: try #require(seen.commits.last))
        }
        #expect(try isObserved({ _ = try $0.count(in: "home") }, Task(title: "a")))
        #expect(try !isObserved({ _ = try $0.rows(in: "work") }, Task(title: "b")))
        #expect(try isObserved({ _ = try $0.rows(in: "work") }, Task(title: "b", list: "work")))
        #expect(try isObserved({ _ = try $0.rows(in: "home") }, Task(title: "b", list: nil)) == false)
        #expect(try isObserved({ _ = try $0.groups() }, Task(title: "b", list: "work")))
    }

    @Test func atIndexesOfALargeGroupThePagesLeadToTheRow() throws {
        try write { transaction in
            for number in 0..<3_000 {
                try transaction.set(Task(title: "same", priority: number % 7 == 0 ? 1 : 0), "k\(number)")
            }
        }
        let keys = try read { try $0.keys(in: "home") }
        #expect(keys.count == 3_000)
        for index in stride(from: 0, to: 3_000, by: 97) {
            #expect(try read { try $0.row(at: index, in: "home")?.key } == keys[index])
            let place = try read { try $0.place(ofKey: keys[index]) }
            #expect(place?.index == index)
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ task: AutoViewTests.Task, _ key: String) throws {
        try setObject(task, forKey: key, inCollection: "tasks")
    }
}

import SQLite
import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// `setSort(version:_:)` and `setGrouping(version:sort:_:)`: another order and other groups, while the app runs.
@Suite struct ViewOrderSettingTests {
    struct Task: Codable, Sendable, Equatable {
        var title: String
        var list: String? = "home"
        var priority = 0
    }

    private typealias Auto = YapDatabaseAutoView<Task, String>
    private typealias Filtered = YapDatabaseFilteredView<Task, String>
    private typealias View = YapDatabaseView<Task, String>
    private typealias Sort = YapDatabaseViewSort<Task>

    private let folder: TestFolder
    private let view = Self.view()

    init() throws { folder = try TestFolder() }

    private static func view(version: String = "1", _ sort: [Sort] = [.by(\.priority)]) -> Auto {
        Auto("all", of: Task.self, in: "tasks", version: version, group: { $0.list }, sort: sort)
    }

    private func open(_ views: [any YapDatabaseNamedExtension]) throws -> YapDatabase {
        let database = try folder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    /// Rows whose titles fall as their priorities rise; the last is in no group.
    private func setSix(_ database: YapDatabase) throws {
        try database.write { transaction in
            for (number, title) in "fedcba".enumerated() {
                let list: String? = number == 5 ? nil : number > 2 ? "work" : "home"
                let task = Task(title: String(title), list: list, priority: number)
                try transaction.set(task, "k\(number)")
            }
        }
    }

    private func counts(_ view: View, _ database: YapDatabase) throws -> [String: Int] {
        try database.read { try $0[view].counts() }
    }

    private func keys(_ view: View, _ database: YapDatabase, in group: String = "home") throws -> [String] {
        try database.read { try $0[view].keys(in: group) }
    }

    @Test func anOrderThatIsSetCountsFromItsTransactionOn() throws {
        let database = try open([view])
        try setSix(database)
        try database.write { transaction in
            try transaction[view].setSort(version: "title", [.by(\.title)])
            #expect(try transaction[view].keys(in: "home") == ["k2", "k1", "k0"])
            try transaction.set(Task(title: "dd", priority: 9), "k9")
            #expect(try transaction[view].keys(in: "home") == ["k2", "k9", "k1", "k0"])
        }
        try database.write { try $0.set(Task(title: "a", priority: 8), "k0") }
        #expect(try keys(view, database) == ["k0", "k2", "k9", "k1"])
        #expect(try keys(view, database, in: "work") == ["k4", "k3"])
        // The same version is the same order.
        try database.write { try $0[view].setSort(version: "title", [.by(\.priority)]) }
        #expect(try keys(view, database, in: "work") == ["k4", "k3"])
        try database.write { transaction in
            try transaction[view].setSort(
                version: "metadata", [.by(metadata: \Int.self, .descending), .byKey()])
            try transaction.replaceMetadata(7, forKey: "k9", inCollection: "tasks")
        }
        #expect(try keys(view, database) == ["k9", "k0", "k1", "k2"])
        try database.write { _ = try $0.replaceMetadata(9, forKey: "k1", inCollection: "tasks") }
        #expect(try keys(view, database) == ["k1", "k9", "k0", "k2"])
    }

    @Test func groupsThatAreSetCountForAllRowsOfTheCollection() throws {
        let database = try open([view])
        try setSix(database)
        try database.write { transaction in
            try transaction[view].setGrouping(version: "2", sort: [.by(\.priority, .descending)]) { task in
                task.priority == 0 ? nil : task.list ?? "none"
            }
            #expect(try transaction[view].counts() == ["home": 2, "none": 1, "work": 2])
        }
        #expect(try keys(view, database) == ["k2", "k1"])
        try database.write { transaction in
            try transaction.set(Task(title: "x", list: nil, priority: 4), "k8")
            try transaction[view].setSort(version: "3", [.byKey(.descending)])
        }
        #expect(try keys(view, database, in: "none") == ["k8", "k5"])
        try database.write { transaction in
            try transaction[view].setGrouping(
                version: "4", sort: [], byKey: { key, _ in key < "k4" ? "low" : nil })
        }
        #expect(try counts(view, database) == ["low": 4])
        try database.write { transaction in
            try transaction[view].setGrouping(version: "5", metadata: Int.self, sort: [.byKey()]) {
                _, _, number in number.map(String.init)
            }
            try transaction.replaceMetadata(3, forKey: "k0", inCollection: "tasks")
        }
        #expect(try counts(view, database) == ["3": 1])
    }

    @Test func viewsOfTheViewFollowAnotherOrder() throws {
        let low = Filtered("low", of: view, version: "1") { group, task in
            group == "one" || task.priority < 5
        }
        let search = YapDatabaseFullTextSearch("text", of: Task.self, in: "tasks", version: "1") {
            $0.column(\.title)
        }
        let found = YapDatabaseSearchResultsView("found", of: low, matching: search)
        let last = Filtered("last", of: found, version: "1") { _, task in task.title != "d" }
        let database = try open([view, low, search, found, last])
        try setSix(database)
        try database.write { transaction in
            try transaction[found].search(.expression("f OR e OR d OR a"))
            #expect(try transaction[found].keys(in: "home") == ["k0", "k1", "k2"])
            try transaction[view].setSort(version: "2", [.by(\.title)])
            #expect(try transaction[found].keys(in: "home") == ["k2", "k1", "k0"])
            #expect(try transaction[last].keys(in: "home") == ["k1", "k0"])
        }
        #expect(try keys(low, database, in: "work") == ["k4", "k3"])
        try database.write { transaction in
            try transaction[view].setGrouping(version: "3", sort: [.by(\.priority)]) { _ in "one" }
        }
        #expect(try keys(low, database, in: "one") == (0..<6).map { "k\($0)" })
        #expect(try keys(found, database, in: "one") == ["k0", "k1", "k2", "k5"])
        #expect(try keys(last, database, in: "one") == ["k0", "k1", "k5"])
        #expect(try counts(last, database) == ["one": 3])
    }

    @Test func anOrderOfATransactionThatFailsIsForgotten() throws {
        let database = try open([view])
        try setSix(database)
        let sort: [Sort] = [.by(\.title)]
        #expect(throws: Refused.self) {
            try database.write { transaction in
                try transaction[view].setSort(version: "2", sort)
                throw Refused()
            }
        }
        try database.write { transaction in
            try transaction[view].setGrouping(version: "3", sort: sort) { _ in "all" }
            transaction.rollback()
        }
        try database.write { transaction in
            try? transaction.savepoint {
                try transaction[view].setSort(version: "4", sort)
                throw Refused()
            }
            try transaction.set(Task(title: "a", priority: 9), "k0")
        }
        #expect(try keys(view, database) == ["k1", "k2", "k0"])
        try database.write { try $0[view].setSort(version: "4", sort) }
        #expect(try keys(view, database) == ["k0", "k2", "k1"])
    }

    @Test func theNextRunWithTheOrderThatWasSetKeepsTheRows() throws {
        var database = try open([view])
        try setSix(database)
        try database.write { try $0[view].setSort(version: "title", [.by(\.title)]) }
        try database.blocking.close()
        let calls = Lock(0)
        func again(version: String, _ sort: [Sort]) -> Auto {
            Auto(
                "all", of: Task.self, in: "tasks", version: version,
                group: { task in
                    calls.withLock { $0 += 1 }
                    return task.list
                }, sort: sort)
        }
        let later = again(version: "title", [.by(\.title)])
        database = try open([later])
        #expect(calls.withLock { $0 } == 0)
        #expect(try keys(later, database) == ["k2", "k1", "k0"])
        try database.blocking.close()
        let former = again(version: "1", [.by(\.priority)])
        database = try open([former])
        #expect(calls.withLock { $0 } == 6)
        #expect(try keys(former, database) == ["k0", "k1", "k2"])
    }

    @Test func aListFollowsAnotherOrderRowByRow() async throws {
        let database = try open([view])
        try setSix(database)
        let connection = database.newConnection()
        var changes = connection.changes(of: view).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Task>()
        list.apply(try #require(try await changes.next()))
        try await connection.readWrite { try $0[view].setSort(version: "2", [.by(\.title)]) }
        var change = try #require(try await changes.next())
        #expect(!change.isReset && change.sectionChanges.isEmpty)
        #expect(change.rowChanges.allSatisfy { $0.kind == .move })
        list.apply(change)
        #expect(list.sections.map { $0.rows.map(\.title) } == [["d", "e", "f"], ["b", "c"]])
        // Only the row that isn't in its place is a change.
        try await connection.readWrite { transaction in
            try transaction[view].setGrouping(version: "3", sort: [.by(\.title)]) { task in
                task.title == "e" ? "work" : task.list
            }
        }
        change = try #require(try await changes.next())
        #expect(change.rowChanges.count == 1)
        list.apply(change)
        #expect(list.sections.map { $0.rows.map(\.title) } == [["d", "f"], ["b", "c", "e"]])
    }

    @Test func onlyRowsWhosePlaceDiffersAreWrittenAndChanged() throws {
        let database = try open([view])
        try setSix(database)
        let seen = CommitList()
        database.addInlineCommitObserver { seen.add($0) }
        let writes = try database.writer { core in
            let before = core.store.sqlite.totalChangesCount
            try core.alone { transaction in
                try transaction[view].setGrouping(version: "2", sort: [.by(\.priority)]) { task in
                    task.title == "d" ? "work" : task.list
                }
            }
            return core.store.sqlite.totalChangesCount - before
        }
        // The entry, two pages and two groups; the version, and the snapshot.
        #expect(writes <= 7)
        let changes = seen.commits.last?.changes(ofExtension: "all") as? ViewChanges<String>
        #expect(changes?.rows.count == 1)
        #expect(try counts(view, database) == ["home": 2, "work": 3])
    }

    @Test func aRowThatIsNowhereIsObservedUntilItHasAPlace() throws {
        let low = Filtered("low", of: view, version: "1") { _, task in task.priority < 3 }
        let database = try open([view, low])
        try setSix(database)
        let connection = database.newConnection()
        func isObserved(
            _ view: View, _ key: String, _ write: (YapDatabaseReadWriteTransaction) throws -> Void
        ) throws -> Bool {
            try connection.isObserved(
                { transaction in
                    let place = try transaction[view].place(ofKey: key)
                    #expect(place == nil)
                }, whenWriting: write)
        }
        #expect(try isObserved(low, "k4") { try $0[low].setFilter(version: "2") { $1.priority < 5 } })
        #expect(try !isObserved(view, "k5") { try $0[view].setSort(version: "2", [.by(\.title)]) })
        #expect(
            try isObserved(view, "k5") { try $0[view].setGrouping(version: "3", sort: []) { _ in "all" } })
    }

    @Test func aReaderFromBeforeAnotherOrderReadsTheFormerOne() throws {
        let low = Filtered("low", of: view, version: "1") { _, task in task.priority < 9 }
        let database = try open([view, low])
        try setSix(database)
        try database.read { transaction in
            // The snapshot is that of the first read; the view is read after other commits.
            _ = try transaction.hasObject(forKey: "k0", inCollection: "tasks")
            try database.write { try $0[view].setSort(version: "title", [.by(\.title)]) }
            try database.write { try $0[view].setSort(version: "key", [.byKey(.descending)]) }
            #expect(try transaction[low].keys(in: "home") == ["k0", "k1", "k2"])
            #expect(try keys(low, database) == ["k2", "k1", "k0"])
        }
        // A reader of the newest snapshot doesn't take a former version for the current one.
        #expect(view.isVersion(Self.view().versionTag, at: 0))
        #expect(!view.isVersion(Self.view().versionTag, at: database.snapshot))
    }

    @Test func anOrderThatWasNotCommittedKeepsNoOtherDatabaseFromTheView() throws {
        let database = try open([view])
        let otherFolder = try TestFolder()
        let other = try otherFolder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        try database.write { transaction in
            try transaction[view].setSort(version: "2", [.by(\.title)])
            #expect(code { try other.blocking.register(view) } == .invalidExtension)
            transaction.rollback()
        }
        try other.blocking.register(view)
        for database in [database, other] {
            try setSix(database)
            #expect(try keys(view, database) == ["k0", "k1", "k2"])
        }
    }

    @Test func anotherProcessWithTheFormerOrderDoesNotReadTheView() throws {
        let database = try open([view])
        try setSix(database)
        let otherView = Self.view()
        let other = try open([otherView])
        try database.write { try $0[view].setSort(version: "2", [.by(\.title)]) }
        #expect(code { _ = try keys(otherView, other) } == .extensionNotRegistered)
        try other.write { try $0.set(Task(title: "a", priority: 9), "k0") }
        try database.write { _ in }
        #expect(try keys(view, database) == ["k0", "k2", "k1"])
    }

    @Test func viewsThatAreNotRegisteredFollowAnotherOrderAtTheirNextRegistration() throws {
        let low = Filtered("low", of: view, version: "1") { _, task in task.priority < 5 }
        var database = try open([view, low])
        try setSix(database)
        try database.blocking.close()
        let again = Self.view()
        database = try open([again])
        try database.write { try $0[again].setSort(version: "2", [.by(\.title)]) }
        let child = Filtered("low", of: again, version: "1") { _, task in task.priority < 5 }
        try database.blocking.register(child)
        #expect(try keys(child, database) == ["k2", "k1", "k0"])
    }

    @Test func anOrderThatCannotBeSetChangesNothing() throws {
        let database = try open([view])
        try setSix(database)
        try database.read { transaction in
            let part = try transaction[view] as? YapDatabaseAutoViewTransaction
            #expect(code { try part?.setSort(version: "2", []) } == .readOnlyTransaction)
        }
        try database.write { transaction in
            let refused = code { try transaction[view].setSort(version: "2", [.by(metadata: \String.count)]) }
            #expect(refused == .typeMismatch)
        }
        let otherFolder = try TestFolder()
        let other = try otherFolder.open { $0.register(Task.self, metadata: Int.self, inCollection: "tasks") }
        try other.blocking.register(view)
        try database.write { transaction in
            #expect(code { try transaction[view].setSort(version: "2", []) } == .invalidExtension)
            try transaction.set(Task(title: "a", priority: 1), "k0")
        }
        #expect(try keys(view, database) == ["k0", "k1", "k2"])
    }

    /// Drawn orders, groups and writes against plain sorts, with groups of several pages.
    @Test(arguments: TestSeed.values(count: 3))
    func aViewIsAsAPlainSortHasItAfterEachSetting(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let database = try open([view])
        let rowsCount = 1_500
        try database.write { transaction in
            for number in 0..<rowsCount { try transaction.set(drawn(random), "k\(number)") }
        }
        var (groupsCount, isByTitle) = (0, false)
        for step in 0..<8 {
            try database.write { transaction in
                isByTitle = random.next(in: 0..<2) == 0
                let sort = [Self.sort(isByTitle: isByTitle, isCompared: random.next(in: 0..<2) == 0)]
                if random.next(in: 0..<2) == 0, groupsCount > 0 {
                    try transaction[view].setSort(version: "v\(step)", sort)
                } else {
                    groupsCount = random.next(in: 1..<5)
                    try transaction[view].setGrouping(version: "v\(step)", sort: sort) { [groupsCount] task in
                        task.list.map { "\($0)\(task.priority % groupsCount)" }
                    }
                }
                for _ in 0..<random.next(in: 0..<20) {
                    try transaction.set(drawn(random), "k\(random.next(in: 0..<rowsCount))")
                }
            }
            try database.read { transaction in
                var expected: [String: [(Task, Int64, String)]] = [:]
                for (key, task) in try transaction.objects(Task.self, inCollection: "tasks") {
                    guard let list = task.list,
                        let rowID = try transaction.rowID(forKey: key, inCollection: "tasks")
                    else { continue }
                    let group = "\(list)\(task.priority % groupsCount)"
                    expected[group, default: []].append((task, rowID, key))
                }
                #expect(try transaction[view].counts() == expected.mapValues(\.count))
                for (group, rows) in expected {
                    let keys = rows.sorted { left, right in
                        isByTitle
                            ? (left.0.title, left.1) < (right.0.title, right.1)
                            : (left.0.priority, left.1) < (right.0.priority, right.1)
                    }.map(\.2)
                    #expect(try transaction[view].keys(in: group) == keys)
                    let middle = keys.count / 2
                    #expect(try transaction[view].row(at: middle, in: group)?.key == keys[middle])
                }
            }
        }
    }

    private static func sort(isByTitle: Bool, isCompared: Bool) -> Sort {
        switch (isByTitle, isCompared) {
        case (true, false): .by(\.title)
        case (false, false): .by(\.priority)
        case (true, true): .by { $0.title < $1.title }
        case (false, true): .by { $0.priority < $1.priority }
        }
    }

    private func drawn(_ random: SeededRandomSource) -> Task {
        Task(
            title: "\(random.next(in: 0..<300))",
            list: ["home", "work", "home", nil][random.next(in: 0..<4)],
            priority: random.next(in: 0..<200))
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ task: ViewOrderSettingTests.Task, _ key: String) throws {
        try setObject(task, forKey: key, inCollection: "tasks")
    }
}

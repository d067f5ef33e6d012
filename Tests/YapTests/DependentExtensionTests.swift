import SQLite
import Testing

@testable import Yap

/// Views that depend on other extensions, in runs and processes that have only some of them registered. Two instances
/// on one file act as two processes.
@Suite struct DependentExtensionTests {
    private typealias Stage = SearchResultsStage
    private typealias Errand = Stage.Errand
    private typealias Filtered = YapDatabaseFilteredView<Errand, String>
    private typealias Board = YapDatabaseManualView<Errand, String>

    /// More than one transaction catches up.
    private static let manyCount = ExtensionCatchUp.batchEntriesMax * 2 + 50

    private let stage: Stage
    private let urgent: Filtered
    private let board = Self.board()
    private let onBoard: Filtered
    /// Keys of the rows for which a filter was called.
    private let filteredKeys: Log

    init() throws {
        stage = try Stage(isPersistent: true)
        let log = Log()
        filteredKeys = log
        urgent = Filtered("urgent", of: stage.parent, version: "1") { $1.priority >= 50 }
        onBoard = Filtered(
            "onBoard", of: board, version: "1",
            filterByKey: { _, key, errand in
                log.add(key)
                return errand.title == "milk"
            })
    }

    private static func board(version: String = "1") -> Board {
        Board("board", of: Errand.self, in: Stage.collection, groups: String.self, version: version)
    }

    /// Sets many rows, the last one first: filled in the order of the rowids, a view comes to those last that its
    /// parent has caught up first.
    private func setMany(
        _ database: YapDatabase, _ title: String = "milk", list: String? = "home", priority: Int = 60
    ) throws {
        try database.write { transaction in
            for number in (0..<Self.manyCount).reversed() {
                let errand = Errand(title: title, list: list, priority: priority)
                try transaction.set(errand, "k\(number)")
            }
        }
    }

    /// Inserts the rows in the order of their keys. The parent doesn't have them.
    private func insertMany(_ database: YapDatabase) throws {
        try database.write { transaction in
            for number in 0..<Self.manyCount {
                try transaction.set(Errand(title: "tea", list: nil), "k\(number)")
            }
        }
    }

    private func keys(_ view: Stage.View, _ database: YapDatabase) throws -> [String: [String]] {
        try database.read { try $0.keys(view) }
    }

    /// The keys that a view must have: those of its parent whose rows satisfy a condition.
    private func expected(
        _ parent: Stage.View, _ database: YapDatabase, _ isIncluded: (Errand) -> Bool
    ) throws -> [String: [String]] {
        try database.read { transaction in
            let part = try transaction[parent]
            return try part.groups().reduce(into: [:]) { result, group in
                let keys = try part.rows(in: group).filter { isIncluded($0.object) }.map(\.key)
                if !keys.isEmpty { result[group] = keys }
            }
        }
    }

    private func append(_ key: String, _ database: YapDatabase) throws {
        try database.write { _ = try $0[board].append(key, to: "x") }
    }

    private func missed(_ name: String, _ database: YapDatabase) throws -> StoredExtension.Missed {
        try database.writer { try StoredExtension(name, $0.store).missed() }
    }

    // MARK: In the order of the dependencies

    @Test func aViewIsFilledOnlyAfterItsParentHasCaughtUp() throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        try database.add(stage.parent)
        try insertMany(database)
        try setMany(other)
        try database.add(urgent)
        #expect(try keys(urgent, database)["home"]?.count == Self.manyCount)
        #expect(try keys(urgent, database) == keys(stage.parent, database))
        // It stays right.
        try database.set(["k0": "tea"])
        #expect(try keys(urgent, database)["home"]?.count == Self.manyCount - 1)
    }

    @Test func aViewWaitsForItsParentWithoutHoldingUpTheWritesOfOthers() async throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        try await database.register(stage.parent)
        try insertMany(database)
        try setMany(other)
        try await database.register(urgent)
        #expect(try keys(urgent, database)["home"]?.count == Self.manyCount)
    }

    @Test(arguments: [false, true])
    func aPersistentViewOfSearchResultsWaitsForItsParentAndItsSearch(isKnown: Bool) throws {
        let first = try stage.open()
        try insertMany(first)
        try stage.look(for: .words("milk"), first)
        try first.blocking.close()
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        try database.add(stage.parent)
        try database.add(stage.search)
        try setMany(other)
        if !isKnown {
            // It then runs its query again when it is registered.
            try other.writer { core in
                try core.alone { _ in try StoredExtension("found", core.store).setMissed(.unknown) }
            }
        }
        try database.add(stage.found)
        #expect(try stage.keys(database)["home"]?.count == Self.manyCount)
        #expect(try stage.keys(database) == keys(stage.parent, database))
    }

    @Test func aViewThatIsFilledStopsWhileItsParentIsBehind() throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        try database.add(stage.parent)
        try insertMany(database)
        let registration = try SteppedRegistration(urgent, urgent.name, in: database)
        _ = try registration.next()
        try setMany(other, "milk", priority: 1)
        try other.write { transaction in
            for number in 0..<Self.manyCount {
                try transaction.set(Errand(title: "new", priority: 70), "new\(number)")
            }
        }
        _ = try registration.next()
        try database.set(["k5": "low"])
        try registration.finish()
        #expect(try keys(urgent, database) == expected(stage.parent, database) { $0.priority >= 50 })
        #expect(try keys(urgent, database)["home"]?.count == Self.manyCount)
    }

    @Test func aCrashBetweenTheParentAndTheViewLeavesBothToTheNextRun() throws {
        let other = try stage.openWithout()
        let first = try stage.openWithout()
        try first.add(stage.parent)
        try insertMany(first)
        try setMany(first)
        _ = try SteppedRegistration(urgent, urgent.name, in: first).next()
        try setMany(other, "milk", priority: 1)
        // Nothing says goodbye, as after a crash: the parent has caught up a part.
        try first.write { _ in }
        let database = try stage.openWithout()
        try database.add(stage.parent)
        try database.add(urgent)
        #expect(try keys(urgent, database) == [:])
        #expect(try keys(stage.parent, database)["home"]?.count == Self.manyCount)
    }

    @Test func aViewOfAParentThatCannotCatchUpHereIsRefused() throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        try database.add(board)
        try other.set(["a": "milk"])
        #expect(code { try database.add(onBoard) } == .extensionDependencyMissing)
        try database.set(["b": "milk"])
        try database.blocking.close()
        let again = try stage.openWithout()
        try again.add(board)
        try again.add(onBoard)
        #expect(try keys(onBoard, again) == [:])
    }

    @Test func aChainOfViewsCatchesUpInOrderWithTheNextWrites() throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        let last = Filtered("last", of: urgent, version: "1") { $1.priority < 80 }
        try database.add(stage.parent)
        try database.add(urgent)
        try database.add(last)
        try setMany(other)
        #expect(code { _ = try keys(last, database) } == .extensionNotRegistered)
        for _ in 0..<10 { try database.write { _ in } }
        #expect(try keys(last, database)["home"]?.count == Self.manyCount)
        #expect(try missed("last", database) == .none)
    }

    // MARK: What the parent changed without the view

    private func setBoard(_ database: YapDatabase) throws {
        try database.set(["a": "milk", "b": "tea", "c": "milk", "d": "milk"])
        try addBoard(database)
    }

    private func addBoard(_ database: YapDatabase) throws {
        try database.add(board)
        try database.add(stage.search)
    }

    private func found() -> Stage.Found {
        Stage.Found("foundOnBoard", of: board, matching: stage.search, isPersistent: true)
    }

    @Test func placementsInARunWithoutTheViewsReachThem() throws {
        let found = found()
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try database.add(found)
        try database.write { transaction in
            for key in ["a", "b", "c"] { try transaction[board].append(key, to: "x") }
            try transaction[found].search(.words("milk"))
        }
        try database.blocking.close()
        database = try stage.openWithout()
        try addBoard(database)
        try database.write { transaction in
            try transaction[board].append("d", to: "y")
            try transaction[board].move("a", to: 2, in: "x")
            try transaction[board].remove("c")
        }
        _ = filteredKeys.take()
        try database.add(onBoard)
        try database.add(found)
        for view in [onBoard, found] as [Stage.View] {
            #expect(try keys(view, database) == ["x": ["a"], "y": ["d"]])
            #expect(try missed(view.name, database) == .none)
        }
        #expect(Set(filteredKeys.take()) == ["a", "d"])
    }

    @Test func placementsOfAnotherProcessReachTheViewsOfThisOne() throws {
        let (database, other) = (try stage.openWithout(), try stage.openWithout())
        database.healing.isEnabled = false
        try setBoard(database)
        try database.add(onBoard)
        try other.add(board)
        try append("a", other)
        #expect(code { _ = try keys(onBoard, database) } == .extensionNotRegistered)
        try database.write { _ in }
        #expect(try keys(onBoard, database) == ["x": ["a"]])
    }

    @Test func anotherSearchInARunWithoutTheViewReachesIt() throws {
        let ofFound = Filtered("ofFound", of: stage.found, version: "1") { $1.priority >= 0 }
        let last = Filtered("last", of: ofFound, version: "1") { _, _ in true }
        var database = try stage.open()
        try database.add(ofFound)
        try database.add(last)
        try database.set(["a": "milk", "b": "tea", "c": "milk"])
        try stage.look(for: .words("milk"), database)
        #expect(try keys(last, database) == ["home": ["a", "c"]])
        try database.blocking.close()
        // In one run one of them follows, and the other one doesn't.
        database = try stage.open()
        try database.add(ofFound)
        try stage.look(for: .words("tea"), database)
        try database.add(last)
        #expect(try keys(last, database) == ["home": ["b"]])
        try database.blocking.close()
        database = try stage.open()
        try stage.look(for: nil, database)
        try database.add(ofFound)
        try database.add(last)
        #expect(try keys(last, database) == [:])
    }

    @Test func placementsThatAreUndoneAreNotNoted() throws {
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try database.blocking.close()
        database = try stage.openWithout()
        try addBoard(database)
        let before = try missed("onBoard", database)
        try? database.write { transaction in
            try transaction[board].append("a", to: "x")
            throw Refused()
        }
        try database.write { transaction in
            try transaction[board].append("b", to: "x")
            transaction.rollback()
        }
        #expect(try missed("onBoard", database) == before)
        try database.write { transaction in
            try? transaction.savepoint {
                try transaction[board].append("a", to: "x")
                throw Refused()
            }
            try transaction[board].append("c", to: "x")
        }
        try database.add(onBoard)
        #expect(try keys(onBoard, database) == ["x": ["c"]])
    }

    @Test func aParentThatWasDroppedInARunWithoutTheViewTakesItAlong() throws {
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try append("a", database)
        try database.blocking.close()
        database = try stage.openWithout()
        try database.blocking.unregister("board")
        let tables = try database.writer { core in
            try core.store.statement("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'view%'") {
                try $0.step() ? $0.int64(at: 0) : -1
            }
        }
        #expect(tables == 0)
        try database.add(board)
        try database.add(onBoard)
        #expect(try keys(onBoard, database) == [:])
    }

    @Test func aParentThatWasEmptiedByAnotherVersionEmptiesTheView() throws {
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try append("a", database)
        for version in ["2", "1"] {
            try database.blocking.close()
            database = try stage.openWithout()
            try database.add(Self.board(version: version))
        }
        try database.add(onBoard)
        #expect(try keys(onBoard, database) == [:])
    }

    @Test func aParentThatIsFilledAnewHasItsViewsFilledAnew() throws {
        var database = try stage.openWithout()
        try setMany(database)
        try database.add(stage.parent)
        try database.add(urgent)
        try database.blocking.close()
        database = try stage.openWithout()
        try database.write { try $0.removeAllObjectsInAllCollections() }
        try database.set(["a": "milk"])
        try database.add(stage.parent)
        #expect(try missed("urgent", database) == .unknown)
        try database.add(urgent)
        #expect(try keys(urgent, database) == [:])
    }

    @Test func aFileThatStoresNoDependenciesHasItsViewsFilledAnewOnce() throws {
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try append("a", database)
        try database.blocking.close()
        // As an earlier version of this library leaves the file after a placement without the view.
        database = try stage.openWithout()
        try database.add(board)
        try database.writer { core in
            try core.alone { _ in
                try core.store.config.remove(extension: "onBoard", key: "needs/board")
            }
            core.store.missedChangeLog.reset()
        }
        try append("c", database)
        _ = filteredKeys.take()
        try database.add(onBoard)
        #expect(try keys(onBoard, database) == ["x": ["a", "c"]])
        try database.blocking.close()
        database = try stage.openWithout()
        try database.add(board)
        _ = filteredKeys.take()
        try database.add(onBoard)
        #expect(filteredKeys.take() == [])
    }

    // MARK: Catching up

    @Test func aFilteredViewCatchesUpByTheRowsThatChanged() throws {
        var database = try stage.openWithout()
        try setBoard(database)
        try database.add(onBoard)
        try database.write { transaction in
            for key in ["a", "b", "c", "d"] { try transaction[board].append(key, to: "x") }
        }
        try database.blocking.close()
        database = try stage.openWithout()
        try database.set(["a": "tea", "b": "milk"])
        try database.write { try $0.removeErrand("c") }
        try database.add(board)
        _ = filteredKeys.take()
        try database.add(onBoard)
        #expect(try keys(onBoard, database) == ["x": ["b", "d"]])
        #expect(Set(filteredKeys.take()) == ["a", "b"])
    }

    @Test func aParentThatCatchesUpInARunWithoutTheViewLeavesTheRowsToIt() throws {
        var database = try stage.openWithout()
        try database.add(stage.parent)
        try database.add(urgent)
        try setMany(database)
        try database.blocking.close()
        database = try stage.openWithout()
        try setMany(database, "milk", priority: 1)
        try database.blocking.close()
        database = try stage.openWithout()
        try database.add(stage.parent)
        #expect(try missed("urgent", database) != .unknown)
        try database.add(urgent)
        #expect(try keys(urgent, database) == [:])
        #expect(try database.missedChangesCount() == 0)
    }
}

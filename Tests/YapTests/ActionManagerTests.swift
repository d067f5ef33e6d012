import FoundationEssentials
import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// The table of `YapDatabaseActionManager` follows the objects.
@Suite struct ActionManagerTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func theTableFollowsEachWriteInTheSameTransaction() throws {
        let stage = try ActionStage(folder)
        try stage.connection.blocking.readWrite { transaction in
            func lines() throws -> [String] { try transaction[stage.manager].actions().map(ActionStage.line) }
            func set(_ key: String, _ items: [Job.Item]) throws {
                try transaction.setObject(Job(items), forKey: key, inCollection: "jobs")
            }
            try set("a", [.init(identifier: "x", at: 30), .init(identifier: "y", at: 10)])
            try set("b", [.init(identifier: "x", at: 20)])
            #expect(try lines() == ["a/y 10", "b/x 20", "a/x 30"])
            #expect(try transaction[stage.manager].actions(limit: 1).map(ActionStage.line) == ["a/y 10"])
            #expect(try transaction[stage.manager].actions(forKey: "a").count == 2)
            #expect(try transaction[stage.manager].actions(forKey: "none").isEmpty)
            try transaction.replaceObject(
                Job([.init(identifier: "x", at: 5), .init(identifier: "z", at: 40)]), forKey: "a",
                inCollection: "jobs")
            #expect(try lines() == ["a/x 5", "b/x 20", "a/z 40"])
            try transaction.removeObject(forKey: "a", inCollection: "jobs")
            #expect(try lines() == ["b/x 20"])
            #expect(try transaction[stage.manager].count() == 1)
            // Of two with one identifier the last one counts.
            try set("b", [.init(identifier: "x", at: 1), .init(identifier: "x", at: 2)])
            #expect(try lines() == ["b/x 2"])
            try transaction.removeAllObjectsInAllCollections()
            #expect(try lines() == [])
        }
    }

    @Test func aFailedTransactionAndAFailedSavepointLeaveNoTrace() throws {
        let stage = try ActionStage(folder)
        try stage.set([("a", Job(at: 1))])
        let reader = stage.database.newConnection()
        try stage.connection.blocking.readWrite { transaction in
            try? transaction.savepoint {
                try transaction.setObject(Job(at: 2), forKey: "b", inCollection: "jobs")
                throw Refused()
            }
            #expect(try transaction[stage.manager].count() == 1)
            try transaction.setObject(Job(at: 3), forKey: "c", inCollection: "jobs")
            // Others see it after the commit.
            #expect(try reader.blocking.read { try $0[stage.manager].count() } == 1)
            transaction.rollback()
        }
        #expect(try stage.table() == ["a/run 1"])
        let commit = try stage.database.commit { transaction in
            try? transaction.savepoint {
                try transaction.setObject(Job(at: 2), forKey: "b", inCollection: "jobs")
                throw Refused()
            }
            try transaction.setObject("n", forKey: "n", inCollection: "notes")
        }
        #expect(commit.changes(ofExtension: "jobs") == nil)
    }

    @Test func objectsThatExistAreAddedAndAnotherVersionFillsTheTableAnew() throws {
        var database = try ActionStage.open(folder)
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<1_200 {
                try transaction.setObject(Job(at: Double(number)), forKey: "\(number)", inCollection: "jobs")
            }
        }
        func count(_ manager: JobManager) throws -> Int {
            try database.blocking.register(manager)
            defer { try? database.blocking.close() }
            return try database.newConnection().blocking.read { try $0[manager].count() }
        }
        #expect(try count(ActionStage.manager()) == 1_200)
        database = try ActionStage.open(folder)
        let twice = JobManager("jobs", of: Job.self, in: "jobs", version: "2") { job in
            job.actions + [YapDatabaseAction("more", at: ActionStage.start)]
        }
        #expect(try count(twice) == 2_400)
        database = try ActionStage.open(folder)
        try database.blocking.register(twice)
        try database.blocking.unregister("jobs")
        try database.newConnection().blocking.read { transaction in
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%actions%'"
            let count = try transaction.sqlite.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : -1 }
            #expect(count == 0)
        }
    }

    @Test func writesWithoutTheManagerAreCaughtUpAndStartsOfOthersStay() throws {
        var stage = try ActionStage(folder)
        try stage.set([("a", Job(at: 1)), ("b", Job(at: 2)), ("c", Job(at: 3))])
        let now = stage.clock.nowMilliseconds() + 10_000
        try stage.connection.blocking.readWrite { transaction in
            let part = try transaction[stage.manager]
            let entries = try part.scheduled(part.sql.inOrder, 10)
            for entry in entries {
                #expect(
                    try part.start(entry.action.id, rowID: entry.rowID, now: now)?.object.items.count == 1)
                #expect(try part.start(entry.action.id, rowID: entry.rowID, now: now) == nil)
            }
        }
        #expect(try stage.table() == ["a/run 70", "b/run 70", "c/run 70"])
        try stage.database.blocking.close()
        let without = try ActionStage.open(folder)
        try without.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(Job(at: 5), forKey: "b", inCollection: "jobs")
            try transaction.removeObject(forKey: "c", inCollection: "jobs")
            try transaction.setObject(Job(at: 6), forKey: "d", inCollection: "jobs")
        }
        try without.blocking.close()
        stage = try ActionStage(folder)
        #expect(try stage.table() == ["b/run 5", "d/run 6", "a/run 70"])
    }

    @Test func onlyAnotherDateMakesAStartedActionDueAgain() throws {
        let stage = try ActionStage(folder)
        try stage.set([("a", Job(at: 1))])
        let now = stage.clock.nowMilliseconds() + 10_000
        try stage.connection.blocking.readWrite { transaction in
            let part = try transaction[stage.manager]
            let entry = try #require(try part.scheduled(part.sql.inOrder, 1).first)
            _ = try part.start(entry.action.id, rowID: entry.rowID, now: now)
        }
        try stage.set([("a", Job(at: 1, retry: 5, network: true))])
        #expect(try stage.table() == ["a/run 70"])
        #expect(try stage.connection.blocking.read { try $0[stage.manager].actions()[0].requiresNetwork })
        try stage.set([("a", Job(at: 2))])
        #expect(try stage.table() == ["a/run 2"])
    }

    @Test func touchingAnObjectReadsItsActionsAgain() throws {
        let seconds = Lock(1.0)
        let manager = JobManager("jobs", of: Job.self, in: "jobs", version: "1") { _ in
            [YapDatabaseAction("a", at: ActionStage.start.addingTimeInterval(seconds.withLock { $0 }))]
        }
        let stage = try ActionStage(folder, manager)
        try stage.set([("a", Job([]))])
        seconds.withLock { $0 = 2 }
        try stage.connection.blocking.readWrite { try $0.touchMetadata(forKey: "a", inCollection: "jobs") }
        #expect(try stage.table() == ["a/a 1"])
        try stage.connection.blocking.readWrite { try $0.touchObject(forKey: "a", inCollection: "jobs") }
        #expect(try stage.table() == ["a/a 2"])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func extremeDatesAndTimesAreBounded(seconds: Double) throws {
        let manager = JobManager("jobs", of: Job.self, in: "jobs", version: "1") { _ in
            [YapDatabaseAction("a", at: Date(timeIntervalSince1970: seconds), retryAfterSeconds: seconds)]
        }
        let stage = try ActionStage(folder, manager)
        try stage.set([("a", Job([]))])
        try stage.connection.blocking.readWrite { transaction in
            let part = try transaction[manager]
            let entry = try #require(try part.scheduled(part.sql.inOrder, 1).first)
            let isDue = entry.startMilliseconds <= stage.clock.nowMilliseconds()
            #expect(isDue == (seconds < 0))
            _ = try part.start(entry.action.id, rowID: entry.rowID, now: ActionTime.max)
            let after = try #require(try part.scheduled(part.sql.inOrder, 1).first)
            #expect(after.startMilliseconds >= ActionTime.max + 1_000)
        }
    }

    @Test func mistakesAreErrors() throws {
        let stage = try ActionStage(folder)
        for (collection, expected) in [
            ("todos", YapDatabaseError.Code.typeMismatch), ("none", .missingRegistration),
        ] {
            let wrong = JobManager("wrong", of: Job.self, in: collection, version: "1")
            #expect(code { try stage.database.blocking.register(wrong) } == expected)
        }
        let many = (0...YapDatabaseAction.perObjectMax).map { Job.Item(identifier: "\($0)", at: 0) }
        #expect(code { try stage.set([("a", Job(many))]) } == .invalidExtension)
        try stage.set([("a", Job(Array(many.dropLast())))])
        #expect(try stage.table().count == YapDatabaseAction.perObjectMax)
        let ended = try stage.connection.blocking.read { try $0[stage.manager] }
        #expect(code { _ = try ended.count() } == .transactionEnded)
        let hostile = JobManager("a\"b'; DROP TABLE database2; --", of: Job.self, in: "jobs", version: "1")
        try stage.database.blocking.register(hostile)
        try stage.set([("\"'\0", Job([.init(identifier: "'; DROP TABLE yap2; --", at: 0)]))])
        #expect(try stage.connection.blocking.read { try $0[hostile].count() } == many.count)
    }

    @Test func aFetchedObjectWithTooManyActionsHasTheFirst() throws {
        let stage = try ActionStage(folder)
        let many = (0...YapDatabaseAction.perObjectMax).map { Job.Item(identifier: "\($0)", at: 0) }
        try stage.connection.blocking.readWrite { transaction in
            try transaction.noteFetchedRows(ofExtension: "sync")
            try transaction.setObject(Job(many), forKey: "a", inCollection: "jobs")
        }
        #expect(try stage.table().count == YapDatabaseAction.perObjectMax)
    }

    @Test func aReadIsObservedWhenActionsChange() throws {
        let stage = try ActionStage(folder)
        let manager = stage.manager
        try stage.set([("a", Job(at: 1))])
        var noted = Job(at: 1)
        noted.note = "x"
        func isObserved(_ job: Job) throws -> Bool {
            try stage.connection.isObserved {
                _ = try $0[manager].actions()
            } whenWriting: {
                try $0.setObject(job, forKey: "a", inCollection: "jobs")
            }
        }
        #expect(try !isObserved(noted))
        #expect(try isObserved(Job(at: 2)))
        let counts = try stage.connection.isObserved {
            _ = try $0[manager].count()
        } whenWriting: {
            let part = try $0[manager]
            let entry = try #require(try part.scheduled(part.sql.inOrder, 1).first)
            _ = try part.start(entry.action.id, rowID: entry.rowID, now: ActionTime.max)
        }
        #expect(!counts)
    }

    @Test func dueActionsAreFoundByTheIndexes() throws {
        let stage = try ActionStage(folder)
        try stage.connection.blocking.read { transaction in
            let sql = try transaction[stage.manager].sql
            for text in [sql.inOrder, sql.inOrderByNetwork] {
                let plan = try transaction.sqlite.withStatement("EXPLAIN QUERY PLAN " + text) { statement in
                    var lines: [String] = []
                    while try statement.step() { lines.append(statement.text(at: 3)) }
                    return lines.joined(separator: "; ")
                }
                #expect(!plan.contains("TEMP B-TREE") && plan.contains("INDEX"), "\(plan)")
            }
        }
    }

    /// Random writes and starts against a dictionary.
    @Test(arguments: TestSeed.values(count: 4))
    func theTableIsAsADictionaryHasIt(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var stage = try ActionStage(folder)
        var model = ActionModel()
        for _ in 0..<80 {
            let (before, fails) = (model, random.next(in: 0..<5) == 0)
            try stage.connection.blocking.readWrite { transaction in
                for _ in 0...random.next(in: 0..<5) {
                    try model.draw(random, transaction, transaction[stage.manager])
                }
                if fails { transaction.rollback() }
            }
            if fails { model = before }
            let rows = try stage.connection.blocking.read { try $0[stage.manager].actions(limit: 1000) }
            #expect(rows.map(ActionStage.line).sorted() == model.lines)
            #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.nextStart <= $1.nextStart })
            if random.next(in: 0..<20) == 0 {
                try stage.database.blocking.close()
                stage = try ActionStage(folder)
            }
        }
    }
}

/// What the table must have.
private struct ActionModel {
    private var rows: [String: [String: (date: Double, start: Double)]] = [:]

    var lines: [String] {
        rows.flatMap { key, actions in actions.map { "\(key)/\($0.key) \(Int($0.value.start))" } }.sorted()
    }

    mutating func draw(
        _ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction,
        _ part: YapDatabaseActionTransaction<Job>
    ) throws {
        let key = "\(random.next(in: 0..<8))"
        switch random.next(in: 0..<20) {
        case 0:
            try transaction.removeAllObjectsInAllCollections()
            rows = [:]
        case 1:
            try transaction.removeAllObjects(inCollection: "jobs")
            rows = [:]
        case 2...4:
            try transaction.removeObject(forKey: key, inCollection: "jobs")
            rows[key] = nil
        case 5...9:
            let now = random.next(in: 0..<50)
            for entry in try part.scheduled(part.sql.inOrder, 3) {
                let milliseconds = Int64(1_700_000_000 + now) * 1000
                let id = entry.action.id
                let isStarted = try part.start(id, rowID: entry.rowID, now: milliseconds) != nil
                #expect(isStarted == (rows[id.key]?[id.identifier].map { $0.start <= Double(now) }))
                if isStarted { rows[id.key]?[id.identifier]?.start = Double(now + 7) }
            }
        default:
            let items = ["x", "y", "z"].filter { _ in random.next(in: 0..<3) > 0 }.map {
                Job.Item(identifier: $0, at: Double(random.next(in: 0..<4) * 10), retry: 7)
            }
            try transaction.setObject(Job(items), forKey: key, inCollection: "jobs")
            let before = rows[key] ?? [:]
            rows[key] = Dictionary(
                uniqueKeysWithValues: items.map { item in
                    let old = before[item.identifier]
                    let start = old?.date == item.at ? old?.start ?? item.at : item.at
                    return (item.identifier, (item.at, start))
                })
        }
    }
}

import System
import Testing

@testable import Yap

/// `YapDatabaseSearchQueue`: the newest search counts.
@Suite struct SearchQueueTests {
    private typealias Stage = SearchResultsStage

    private let stage: Stage
    private let database: YapDatabase
    private let searches: YapDatabaseSearchQueue<Stage.Errand, String>

    init() throws {
        stage = try Stage()
        database = try stage.open()
        searches = YapDatabaseSearchQueue(stage.found, database.newConnection())
        try add(11, "milk")
        try add(1, "tea")
    }

    private func add(_ count: Int, _ title: String) throws {
        try database.write { transaction in
            for number in 0..<count { try transaction.set(Stage.Errand(title: title), "\(title) \(number)") }
        }
    }

    private func counts() throws -> Int {
        try database.read { try $0[stage.found].count() }
    }

    @Test func aSearchThatIsAloneIsComplete() async throws {
        #expect(try await searches.search(.words("tea")))
        #expect(try counts() == 1)
        #expect(try await searches.search(nil))
        #expect(try counts() == 0)
        await #expect(throws: YapDatabaseError.self) { try await searches.search(.expression("\"")) }
    }

    @Test func aPendingSearchIsReplacedByANewerOne() async throws {
        let (first, second) = (searches.next(), searches.next())
        #expect(try await !searches.search(.words("milk"), first))
        #expect(try counts() == 0)
        #expect(try await searches.search(.words("tea"), second))
        #expect(try counts() == 1)
    }

    @Test(arguments: [0, 2, 5])
    func aRunningSearchIsEndedBetweenStepsAndUndone(step: Int) async throws {
        try add(1_100, "milk")
        #expect(try await searches.search(.words("tea")))
        let seen = Lock(0)
        let isComplete = try await searches.search(.words("milk"), searches.next()) { [searches] in
            seen.withLock { $0 += 1 }
            if seen.withLock({ $0 }) == step + 1 { searches.cancel() }
        }
        #expect(!isComplete)
        #expect(seen.withLock { $0 } == step + 1)
        #expect(try counts() == 1)
        #expect(try stage.keys(database)["home"]?.count == 1)
        let query = try await database.newConnection().read { [stage] in try $0[stage.found].query }
        #expect("\(query as Any)".contains("tea"))
        #expect(try await searches.search(.words("milk")))
        #expect(try counts() == 1_100)
    }

    @Test func aCancelledSearchLeavesTheResultsBefore() async throws {
        #expect(try await searches.search(.words("tea")))
        let number = searches.next()
        searches.cancel()
        #expect(try await !searches.search(.words("milk"), number))
        #expect(try counts() == 1)
    }

    @Test func ofManySearchesAtOnceTheNewestCounts() async throws {
        let numbers = (0..<20).map { _ in searches.next() }
        let complete = try await withThrowingTaskGroup(of: Int?.self) { group in
            for (place, number) in numbers.enumerated() {
                let query: Stage.Query = .words(place == 19 ? "tea" : "milk")
                group.addTask { [searches] in try await searches.search(query, number) ? place : nil }
            }
            return try await group.reduce(into: [Int]()) { if let place = $1 { $0.append(place) } }
        }
        #expect(complete == [19])
        #expect(try counts() == 1)
    }

    @Test func theSearchThatWasEnqueuedLastCounts() async throws {
        let tasks = (0..<20).map { searches.enqueue(.words($0 == 19 ? "tea" : "milk")) }
        #expect(try await tasks[19].value)
        for task in tasks { _ = try await task.value }
        #expect(try counts() == 1)
        let failed = searches.enqueue(.expression("\""))
        await #expect(throws: YapDatabaseError.self) { try await failed.value }
    }

    @Test func aSearchIsTheNewestOneAsSoonAsItIsEnqueued() async throws {
        for _ in 0..<50 {
            // While a transaction writes, so that none of the searches is complete before it is cancelled.
            let task = try database.write { [searches] _ in
                let task = searches.enqueue(.words("milk"))
                searches.cancel()
                return task
            }
            #expect(try await !task.value)
        }
        #expect(try counts() == 0)
    }

    /// Callers on one actor, in the order of its tasks.
    @MainActor @Test func searchesOfOneActorKeepTheirOrder() async throws {
        var tasks: [Task<Bool, any Error>] = []
        for number in 0..<20 {
            let query: Stage.Query = .words(number == 19 ? "tea" : "milk")
            tasks.append(Task { @MainActor in try await searches.search(query) })
        }
        #expect(try await tasks[19].value)
        for task in tasks { _ = try await task.value }
        #expect(try counts() == 1)
    }

    @Test func aQueryThatReadsAllTextsIsEndedWhileItFindsNothing() async throws {
        let stage = try Stage()
        let database = try stage.openWithout()
        let search = Stage.search(tokenizer: .trigram)
        let found = Stage.Found("found", of: stage.parent, matching: search)
        for handle in [stage.parent, search, found] as [any YapDatabaseNamedExtension] {
            try database.add(handle)
        }
        try database.write { transaction in
            for number in 0..<1_600 { try transaction.set(Stage.Errand(title: "tea"), "\(number)") }
        }
        let searches = YapDatabaseSearchQueue(found, database.newConnection())
        let seen = Lock(0)
        let isComplete = try await searches.search(.words("zz"), searches.next()) {
            seen.withLock { $0 += 1 }
            if seen.withLock({ $0 }) == 3 { searches.cancel() }
        }
        #expect(!isComplete)
        #expect(seen.withLock { $0 } == 3)
        #expect(try await searches.search(.words("ea")))
        #expect(try database.read { try $0[found].count() } == 1_600)
    }
}

import Testing

@testable import Yap

struct ConnectionPoolTests {
    let folder: TestFolder
    let database: YapDatabase
    let pool: YapDatabaseConnectionPool

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        pool = YapDatabaseConnectionPool(database)
        try database.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
    }

    @Test func readsOneAfterTheOtherUseOneConnection() async throws {
        #expect(pool.connectionsCount == 0)
        for _ in 0..<5 {
            let todo = try await pool.read { try $0.todo("1") }
            #expect(todo?.title == "eggs")
        }
        #expect(pool.connectionsCount == 1)
    }

    @Test func aReadUsesAnIdleConnectionThenANewOneThenTheShortestQueue() {
        #expect((0..<6).map { _ in pool.begin().index } == [0, 1, 2, 0, 1, 2])
        pool.end(1)
        #expect(pool.begin().index == 1)
        for _ in 0..<2 { pool.end(2) }
        #expect((0..<3).map { _ in pool.begin().index } == [2, 2, 0])
        #expect(pool.connectionsCount == 3)
    }

    @Test func aPoolHasAtLeastOneConnection() {
        let least = YapDatabaseConnectionPool(database, connectionsMax: -1)
        #expect((0..<2).map { _ in least.begin().index } == [0, 0])
    }

    @Test func readsOfSeveralThreadsRunAtTheSameTime() throws {
        let arrived = WorkQueue<Int>()
        let mayEnd = WorkQueue<Int>()
        let ended = WorkQueue<Bool>()
        for number in 0..<3 {
            let isStarted = startThread { [pool] in
                let isRead =
                    try? pool.blocking.read { transaction in
                        _ = arrived.push(number)
                        _ = mayEnd.take(max: 1)
                        return try transaction.todo("1") != nil
                    }
                _ = ended.push(isRead ?? false)
            }
            #expect(isStarted)
        }
        // Each is inside of its closure before any may end.
        for _ in 0..<3 { _ = arrived.take(max: 1) }
        #expect(pool.readsCount == 3 && pool.connectionsCount == 3)
        for number in 0..<3 { _ = mayEnd.push(number) }
        for _ in 0..<3 { #expect(ended.take(max: 1) == [true]) }
        #expect(pool.readsCount == 0)
    }

    @Test func manyTasksReadAndNoReadIsCountedAfterItsEnd() async throws {
        let pool = pool
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await pool.read { try $0.todo("1")?.title } } }
            for try await title in group { #expect(title == "eggs") }
        }
        await #expect(throws: Refused.self) { try await pool.read { _ in throw Refused() } }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.read { _ in }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(pool.readsCount == 0 && (1...3).contains(pool.connectionsCount))
    }

    @Test func aReadSeesEachWriteThatHasReturned() async throws {
        let connection = database.newConnection()
        for number in 0..<20 {
            try await connection.readWrite { try $0.set("\(number)", "1") }
            let pool = pool
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<4 { group.addTask { try await pool.read { try $0.todo("1")?.title } } }
                for try await title in group { #expect(title == "\(number)") }
            }
        }
    }

    @Test func aReadInsideAnotherIsRefusedInsteadOfWaitingForEver() throws {
        let failure = code { try pool.blocking.read { _ in try pool.blocking.read { _ in } } }
        #expect(failure == .nestedTransaction)
        #expect(pool.readsCount == 0)
        let other = YapDatabaseConnectionPool(database)
        let todo = try pool.blocking.read { _ in try other.blocking.read { try $0.todo("1") } }
        #expect(todo != nil)
    }

    @Test func aPoolOfAClosedDatabaseSaysSo() async throws {
        _ = try await pool.read { try $0.todo("1") }
        try await database.close()
        let error = await #expect(throws: YapDatabaseError.self) {
            _ = try await pool.read { try $0.todo("1") }
        }
        #expect(error?.code == .closed)
    }
}

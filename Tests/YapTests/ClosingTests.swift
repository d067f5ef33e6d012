import Testing
import Waiting

@testable import Yap

/// Closing a database, and waiting for its writes.
struct ClosingTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection(name: "list")
    }

    /// Begins a write on a thread of its own that runs until `mayEnd` has an element.
    private func hold(_ database: YapDatabase, until mayEnd: WorkQueue<Int>) {
        let begun = WorkQueue<Int>()
        let isStarted = startThread {
            try? database.newConnection().blocking.readWrite { transaction in
                _ = begun.push(0)
                _ = mayEnd.take(max: 1)
                try transaction.set("written", "1")
            }
        }
        #expect(isStarted)
        _ = begun.take(max: 1)
    }

    @Test func closingWaitsForTheRunningWriteWithoutBlockingOtherTasks() async throws {
        let folders = try (0..<32).map { _ in try TestFolder() }
        let databases = try folders.map { try $0.open() }
        let mayEnd = WorkQueue<Int>()
        for database in databases { hold(database, until: mayEnd) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for database in databases { group.addTask { try await database.close() } }
            // Runs only if the others leave Swift a thread.
            group.addTask { for _ in databases { _ = mayEnd.push(0) } }
            try await group.waitForAll()
        }
        for folder in folders {
            let title = try await folder.open().newConnection().read { try $0.todo("1")?.title }
            #expect(title == "written")
        }
    }

    @Test func aClosedDatabaseIsClosedAgainWithoutAnError() async throws {
        try await database.close()
        try await database.close()
        let error = await #expect(throws: YapDatabaseError.self) { try await connection.read { _ in } }
        #expect(error?.code == .closed)
        let flush = await #expect(throws: YapDatabaseError.self) { try await connection.flushTransactions() }
        #expect(flush?.code == .closed)
    }

    @Test func aFlushReturnsWhenTheWritesAndReadsBeforeItHaveEnded() async throws {
        let (mayEnd, log) = (WorkQueue<Int>(), Log())
        hold(database, until: mayEnd)
        let connection = connection
        let writes = (0..<5).map { number in
            Task {
                try await connection.readWrite { try $0.set("t", "\(number)") }
                _ = try await connection.read { _ in }
            }
        }
        try await Polling.until { database.pendingWritesCount >= 5 }
        let flush = Task {
            try await connection.flushTransactions()
            let count = try await connection.read { try $0.numberOfKeys(inCollection: "todos") }
            log.add("\(count)")
        }
        try await Polling.until { database.pendingWritesCount >= 6 }
        #expect(log.lines.isEmpty)
        _ = mayEnd.push(0)
        try await flush.value
        #expect(log.lines == ["5"])
        for write in writes { try await write.value }
        #expect(database.pendingWritesCount == 0 && connection.pendingReadsCount == 0)
    }

    @Test func readsThatWaitAreCounted() async throws {
        let (begun, mayEnd) = (WorkQueue<Int>(), WorkQueue<Int>())
        let connection = connection
        let reads = (0..<3).map { _ in
            Task {
                try await connection.read { _ in
                    _ = begun.push(0)
                    _ = mayEnd.take(max: 1)
                }
            }
        }
        try await Polling.until { connection.pendingReadsCount >= 3 }
        for _ in 0..<3 { _ = mayEnd.push(0) }
        for read in reads { try await read.value }
        #expect(connection.pendingReadsCount == 0 && connection.name == "list")
    }

    @Test func flushedMemoryIsFreeAndReadAgain() async throws {
        try await connection.readWrite { transaction in
            for number in 0..<500 { try transaction.set(String(repeating: "x", count: 500), "\(number)") }
        }
        let read: @Sendable (YapDatabaseReadTransaction) throws -> Int = { transaction in
            try (0..<500).filter { try transaction.todo("\($0)") != nil }.count
        }
        let emptyUse = try await connection.memoryUse()
        #expect(emptyUse == YapDatabaseMemoryUse())
        #expect(try await connection.read(read) == 500)
        let use = try await connection.memoryUse()
        #expect(use.cachedRowsCount == 500 && use.pageCacheBytes > 200_000 && use.statementBytes > 0)
        try await connection.flushMemory()
        let flushed = try await connection.memoryUse()
        #expect(
            flushed.cachedRowsCount == 0 && flushed.pageCacheBytes < 50_000 && flushed.statementBytes == 0)
        #expect(flushed.sqliteBytes < use.sqliteBytes / 2)
        #expect(try await connection.read(read) == 500)
        let written = try await database.writerMemoryUse()
        try await database.flushMemory()
        let rest = try await database.writerMemoryUse()
        #expect(written.cachedRowsCount == 0 && rest.pageCacheBytes < written.pageCacheBytes / 2)
        try await connection.readWrite { try $0.set("new", "0") }
        #expect(try await connection.read { try $0.todo("0")?.title } == "new")
    }
}

import Dispatch
import Foundation
import SQLite
import System
import Testing

@testable import Yap

/// Long-lived reads and the write-ahead log, which has the commits after the one at which they stand.
struct LongLivedReadLogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open() throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.logBytesMax = 256 << 10
        options.longLivedReadLogBytesMax = 1 << 20
        return try folder.open(options)
    }

    private func logBytes() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file + "-wal")
        return try #require((attributes[.size] as? NSNumber)?.intValue)
    }

    /// Writes, and calls `body` after each commit. Returns the largest size of the log.
    private func write(
        _ connection: YapDatabaseConnection, commits: Int, then body: (Int) throws -> Void = { _ in }
    ) throws -> Int {
        var largestBytes = 0
        for number in 0..<commits {
            try connection.blocking.readWrite { try $0.set("t", "\(number % 50)") }
            try body(number)
            largestBytes = max(largestBytes, try logBytes())
        }
        return largestBytes
    }

    @Test func oneThatIsNeverMovedExpiresAndTheLogStaysBounded() throws {
        let connection = try open().newConnection()
        try connection.blocking.readWrite { try $0.set("first", "0") }
        let list = try connection.blocking.beginLongLivedRead()
        #expect(try write(connection, commits: 40) < 1 << 20)
        // Below the limit it stands.
        #expect(try list.blocking.read { try $0.todo("0")?.title } == "first")
        #expect(try write(connection, commits: 1000) < 3 << 20)
        for _ in 0..<2 { #expect(code { try list.blocking.read { _ in } } == .longLivedReadExpired) }
        #expect(list.snapshot == 1)
        // Moved, it can be read again, and the commits are those since the one at which it stood.
        let commits = try list.blocking.moveToNewest()
        let missed = try #require(commits.first).missedCommits
        #expect(missed + UInt64(commits.count) == 1040 && list.snapshot == 1041)
        #expect(try list.blocking.read { try $0.todo("0")?.title } == "t")
    }

    @Test func oneThatExpiresWhileItBeginsStandsAtItsCommit() throws {
        let database = try open()
        try database.newConnection().blocking.readWrite { try $0.set("first", "0") }
        let reader = LongLivedReader(name: "a read", database.idleReaders)
        reader.expire(before: 1)
        try reader.begin(database.makeReader())
        #expect(try reader.read { try $0.todo("0")?.title }.result == "first")
        reader.end(because: LongLivedReader.ended)
    }

    /// A read that expires on one thread while another moves it: it reads one commit, or throws.
    @Test func oneThatExpiresWhileItIsMovedReadsNothingWithoutASnapshot() throws {
        let database = try open()
        try database.newConnection().blocking.readWrite { try $0.set("first", "0") }
        let reader = LongLivedReader(name: "a read", database.idleReaders)
        try reader.begin(database.makeReader())
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for _ in 0..<3_000 {
                if thread == 0 {
                    reader.expire(before: .max)
                    continue
                }
                do {
                    _ = try reader.moveToNewest()
                    let isHeld = try reader.read { $0.sqlite.isInTransaction }.result
                    if !isHeld { failures.withLock { $0.append("read without a snapshot") } }
                } catch let error as YapDatabaseError where error.code == .longLivedReadExpired {
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        reader.end(because: LongLivedReader.ended)
    }

    @Test(arguments: [1, 2])
    func thoseThatAreMovedAfterCommitsNeverExpireAndTheLogStaysBounded(readsCount: Int) throws {
        let connection = try open().newConnection()
        let reads = try (0..<readsCount).map { _ in try connection.blocking.beginLongLivedRead() }
        var commitsCount = 0
        let largestBytes = try write(connection, commits: 1500) { number in
            guard number % 7 == 0 else { return }
            for read in reads {
                _ = try read.blocking.read { try $0.numberOfKeys(inCollection: "todos") }
                commitsCount += try read.blocking.moveToNewest().count
            }
        }
        #expect(largestBytes < 1 << 20)
        for read in reads { commitsCount += try read.blocking.moveToNewest().count }
        #expect(commitsCount == 1500 * readsCount)
    }

    @Test func oneThatIsMovedBesideABusyWriterNeverExpires() async throws {
        let connection = try open().newConnection()
        let list = try await connection.beginLongLivedRead()
        let (moves, moved) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let writing = Task {
            var (moves, snapshot) = (moves.makeAsyncIterator(), 0)
            for number in 0..<1500 {
                // As many commits as fit below the limit: a slow machine may leave the read behind more.
                while number - snapshot > 20, let next = await moves.next() { snapshot = next }
                try await connection.readWrite { try $0.set("t", "\(number % 50)") }
            }
        }
        var commits: [YapDatabaseCommit] = []
        while list.snapshot < 1500 {
            commits += try await list.moveToNewest()
            moved.yield(Int(list.snapshot))
            let snapshot = try await list.read { $0.snapshot }
            #expect(snapshot == list.snapshot)
        }
        try await writing.value
        #expect(commits.map(\.snapshot) == Array(1...1500) && commits.allSatisfy { $0.missedCommits == 0 })
        #expect(try logBytes() < 2 << 20)
    }

    @Test func oneThatLeavesTheLogStandsWhereItStood() throws {
        let database = try open()
        let connection = database.newConnection()
        try connection.blocking.readWrite { try $0.set("first", "0") }
        let list = try connection.blocking.beginLongLivedRead()
        #expect(try list.blocking.read { try $0.todo("0")?.title } == "first")
        // As a commit does that finds the log too large.
        let isEmptied = try database.writer.withCore { core in
            let result = try core.store.sqlite.checkpoint(whenCopied: {
                database.longLivedReads.leaveLog(at: core.store.mark)
            })
            return !result.hasReaders
        }
        #expect(isEmptied)
        try connection.blocking.readWrite { try $0.set("second", "0") }
        #expect(try list.blocking.read { try $0.todo("0")?.title } == "first")
        #expect(list.snapshot == 1)
        #expect(try list.blocking.moveToNewest().map(\.snapshot) == [2])
    }

    @Test func aReadThatExpiresWhileItRunsContinues() throws {
        let connection = try open().newConnection()
        try connection.blocking.readWrite { try $0.set("first", "0") }
        let list = try connection.blocking.beginLongLivedRead()
        try list.blocking.read { transaction throws in
            #expect(try write(connection, commits: 400) > 1 << 20)
            #expect(try transaction.todo("0")?.title == "first")
        }
        #expect(code { try list.blocking.read { _ in } } == .longLivedReadExpired)
        // Nothing holds the log any more.
        #expect(try write(connection, commits: 400) < 9 << 20)
        #expect(try write(connection, commits: 400) < 1 << 20)
    }

    @Test func oneOfAProcessThatDoesNotWriteExpiresByTheCommitsOfAnother() async throws {
        let theirs = try open().newConnection()
        try await theirs.readWrite { try $0.set("first", "0") }
        let ours = try open().newConnection()
        let list = try await ours.beginLongLivedRead()
        #expect(try await list.read { try $0.todo("0")?.title } == "first")
        var code: YapDatabaseError.Code?
        for number in 0..<100_000 {
            try await theirs.readWrite { try $0.set("t", "\(number % 50)") }
            do {
                let title = try await list.read { try $0.todo("0")?.title }
                #expect(title == "first")
            } catch {
                code = (error as? YapDatabaseError)?.code
                break
            }
        }
        #expect(code == .longLivedReadExpired)
        let commits = try await list.moveToNewest()
        #expect(commits.count == 1 && commits[0].isExternal && list.snapshot > 100)
    }
}

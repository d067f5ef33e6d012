import Foundation
import System
import Testing

@testable import Yap

/// Reads that stand at one commit until they are moved.
struct LongLivedReadTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection(name: "list")
        try set("eggs", "1")
    }

    private func set(_ title: String, _ key: String) throws {
        try connection.blocking.readWrite { try $0.set(title, key) }
    }

    private func titles(_ list: YapDatabaseLongLivedRead) throws -> [String] {
        try list.blocking.read {
            try $0.objects(Todo.self, inCollection: "todos").map(\.object.title)
        }
    }

    @Test func itShowsOneCommitWhileOthersAreMade() async throws {
        let list = try await connection.beginLongLivedRead()
        #expect(list.snapshot == 1)
        #expect(try await list.read { try $0.todo("1")?.title } == "eggs")
        for number in 2..<40 {
            try await connection.readWrite { try $0.set("\(number)", "1") }
            try await connection.readWrite { try $0.set("\(number)", "\(number)") }
            // Cached or not, by key or as a list.
            try await list.read { transaction throws in
                #expect(try transaction.todo("1")?.title == "eggs")
                #expect(try transaction.todo("\(number)") == nil)
                #expect(try transaction.allKeys(inCollection: "todos") == ["1"])
                #expect(transaction.snapshot == 1)
            }
        }
        try await connection.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try await list.read { try $0.todo("1")?.title } == "eggs")
        #expect(list.snapshot == 1)
        #expect(try await list.moveToNewest().count == 77)
        #expect(try await list.read { try $0.todo("1")?.title } == nil)
    }

    @Test func movingReturnsTheCommitsInOrderAndNoOthers() throws {
        try set("before", "0")
        let list = try connection.blocking.beginLongLivedRead()
        #expect(try list.blocking.moveToNewest().isEmpty)
        for key in ["a", "b", "c"] { try set("t", key) }
        try connection.blocking.readWrite { try $0.removeObject(forKey: "a", inCollection: "todos") }
        // A transaction that changes nothing is no commit, and one that fails neither.
        try connection.blocking.readWrite { _ = try $0.todo("1") }
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction throws in
                try transaction.set("t", "d")
                throw Refused()
            }
        }
        let commits = try list.blocking.moveToNewest()
        #expect(commits.map(\.snapshot) == [3, 4, 5, 6] && list.snapshot == 6)
        #expect(commits.map { $0.changedKeys(inCollection: "todos") } == [["a"], ["b"], ["c"], ["a"]])
        #expect(commits[3].removedKeys(inCollection: "todos") == ["a"])
        #expect(commits.allSatisfy { $0.missedCommits == 0 && !$0.isExternal })
        #expect(try titles(list) == ["before", "eggs", "t", "t"])
        try set("t", "e")
        #expect(try list.blocking.moveToNewest().map(\.snapshot) == [7])
        #expect(try list.blocking.moveToNewest().isEmpty)
    }

    @Test func moreCommitsThanAreKnownAreAGap() throws {
        let list = try connection.blocking.beginLongLivedRead()
        for number in 0..<700 { try set("t", "\(number % 9)") }
        let commits = try list.blocking.moveToNewest()
        #expect(commits.count <= CommitLog.recordsMax && commits.count > CommitLog.recordsMax / 2)
        let missed = try #require(commits.first).missedCommits
        #expect(missed + UInt64(commits.count) == 700)
        #expect(commits[0].hasChange(forKey: "none", inCollection: "notes"))
        #expect(commits.dropFirst().allSatisfy { $0.missedCommits == 0 })
        #expect(commits.map(\.snapshot) == Array(702 - UInt64(commits.count)...701))
    }

    @Test func commitsOfAnotherProcessAreAGap() throws {
        let theirs = try folder.open().newConnection()
        let list = try connection.blocking.beginLongLivedRead()
        try set("ours", "2")
        try theirs.blocking.readWrite { try $0.set("theirs", "3") }
        #expect(try titles(list) == ["eggs"])
        let first = try list.blocking.moveToNewest()
        #expect(first.map(\.snapshot) == [3] && first[0].isExternal && first[0].missedCommits == 1)
        #expect(first[0].hasChange(forKey: "2", inCollection: "todos"))
        #expect(try titles(list) == ["eggs", "ours", "theirs"])
        try theirs.blocking.readWrite { try $0.set("theirs", "4") }
        try set("ours", "5")
        try set("ours", "6")
        let second = try list.blocking.moveToNewest()
        #expect(second.map(\.snapshot) == [5, 6] && second.map(\.missedCommits) == [1, 0])
        #expect(second.allSatisfy { !$0.isExternal })
        #expect(try titles(list).count == 6)
    }

    @Test func severalStandAtCommitsOfTheirOwn() throws {
        let one = try connection.blocking.beginLongLivedRead()
        try set("milk", "2")
        let other = try connection.blocking.beginLongLivedRead()
        try set("bread", "3")
        #expect(try titles(one) == ["eggs"])
        #expect(try one.blocking.read { _ in try titles(other) } == ["eggs", "milk"])
        #expect(try one.blocking.moveToNewest().map(\.snapshot) == [2, 3])
        #expect(try titles(one).count == 3)
        #expect(try titles(other).count == 2)
        #expect(try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") } == 3)
    }

    @Test func aDatabaseInMemoryHasThem() async throws {
        let database = try YapDatabase(inMemory: YapDatabaseOptions()) {
            $0.register(Todo.self, inCollection: "todos")
        }
        let connection = database.newConnection()
        let list = try await connection.beginLongLivedRead()
        try await connection.readWrite { try $0.set("eggs", "1") }
        #expect(try await list.read { try $0.todo("1") } == nil)
        #expect(try await list.moveToNewest().map(\.snapshot) == [1])
        #expect(try await list.read { try $0.todo("1")?.title } == "eggs")
        try await database.close()
    }

    // MARK: The end

    @Test func closingTheDatabaseEndsThemAndTheirHandles() async throws {
        let list = try await connection.beginLongLivedRead()
        let never = try await connection.beginLongLivedRead()
        _ = try await list.read { try $0.todo("1") }
        try await database.close()
        for read in [list, never] {
            let error = await #expect(throws: YapDatabaseError.self) { try await read.read { _ in } }
            #expect(error?.code == .closed)
            let move = await #expect(throws: YapDatabaseError.self) { try await read.moveToNewest() }
            #expect(move?.code == .closed)
        }
        let begin = await #expect(throws: YapDatabaseError.self) { try await connection.beginLongLivedRead() }
        #expect(begin?.code == .closed)
        // The last handle to a file removes its log.
        #expect(!FileManager.default.fileExists(atPath: folder.file + "-wal"))
    }

    @Test func aRunningReadContinuesWhenTheDatabaseIsClosedOrTheReadIsEnded() throws {
        let reads = try (0..<2).map { _ in try connection.blocking.beginLongLivedRead() }
        for (list, closes) in zip(reads, [false, true]) {
            let title = try list.blocking.read { transaction in
                if closes { try database.blocking.close() } else { list.end() }
                return try transaction.todo("1")?.title
            }
            #expect(title == "eggs")
            #expect(code { try list.blocking.read { _ in } } == (closes ? .closed : .transactionEnded))
        }
        // Their handles are closed, though the reads are kept.
        #expect(!FileManager.default.fileExists(atPath: folder.file + "-wal"))
        withExtendedLifetime(reads) {}
    }

    @Test func afterItsEndItThrowsAndItsPlaceIsFree() throws {
        var options = YapDatabaseOptions()
        options.longLivedReadsMax = 2
        let connection = try folder.open(options).newConnection()
        var reads = try (0..<2).map { _ in try connection.blocking.beginLongLivedRead() }
        #expect(code { _ = try connection.blocking.beginLongLivedRead() } == .tooManyLongLivedReads)
        reads[0].end()
        reads[0].end()
        #expect(code { try reads[0].blocking.read { _ in } } == .transactionEnded)
        #expect(code { try reads[0].blocking.moveToNewest() } == .transactionEnded)
        reads[0] = try connection.blocking.beginLongLivedRead()
        #expect(code { _ = try connection.blocking.beginLongLivedRead() } == .tooManyLongLivedReads)
        // Released, without an end.
        reads = []
        #expect(code { _ = try connection.blocking.beginLongLivedRead() } == nil)
    }

    // MARK: Transactions inside of each other

    @Test func aReadInsideOfItsReadIsRefusedAndAWriteIsNotSeen() throws {
        let list = try connection.blocking.beginLongLivedRead()
        let error = try #require(throws: YapDatabaseError.self) {
            try list.blocking.read { _ in try list.blocking.read { _ in } }
        }
        #expect(error.code == .nestedTransaction && error.message.contains("read of the connection \"list\""))
        let move = code { try list.blocking.read { _ in _ = try list.blocking.moveToNewest() } }
        #expect(move == .nestedTransaction)
        try list.blocking.read { transaction throws in
            try set("milk", "2")
            #expect(try transaction.todo("2") == nil)
        }
        try connection.blocking.readWrite { transaction throws in
            try transaction.set("bread", "3")
            #expect(try titles(list) == ["eggs"])
            #expect(try list.blocking.moveToNewest().map(\.snapshot) == [2])
        }
    }

    @Test func aWriteInsideOfItsReadForWhichAWriteWaitsIsRefusedInsteadOfWaitingForEver() throws {
        let list = try connection.blocking.beginLongLivedRead()
        let (isReading, isWriting) = (WorkQueue<Int>(), WorkQueue<Int>())
        let codes = WorkQueue<YapDatabaseError.Code?>()
        let isStarted = startThread { [connection] in
            let code = code {
                try list.blocking.read { _ in
                    _ = isReading.push(0)
                    _ = isWriting.take(max: 1)
                    try connection.blocking.readWrite { try $0.set("a", "1") }
                }
            }
            _ = codes.push(code)
        }
        #expect(isStarted)
        _ = isReading.take(max: 1)
        let own = code {
            try connection.blocking.readWrite { _ in
                _ = isWriting.push(0)
                try list.blocking.read { _ in }
            }
        }
        let refusals = ((codes.take(max: 1) ?? []) + [own]).filter { $0 == .deadlock }
        #expect(refusals.count == 1)
        #expect(code { try list.blocking.read { _ in } } == nil)
    }

    @Test func anErrorOfTheClosureLeavesItStanding() throws {
        let list = try connection.blocking.beginLongLivedRead()
        try set("milk", "2")
        #expect(throws: Refused.self) { try list.blocking.read { _ in throw Refused() } }
        #expect(try titles(list) == ["eggs"])
        // An iterator that is kept beyond the closure holds nothing.
        let iterator = try list.blocking.read { transaction in
            var iterator = try transaction.objects(Todo.self, inCollection: "todos").makeIterator()
            #expect(iterator.next()?.object.title == "eggs")
            return iterator
        }
        #expect(try titles(list) == ["eggs"])
        #expect(try list.blocking.moveToNewest().map(\.snapshot) == [2])
        #expect(try titles(list) == ["eggs", "milk"])
        withExtendedLifetime(iterator) {}
    }
}

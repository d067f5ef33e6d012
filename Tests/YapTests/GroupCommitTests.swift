import SQLite
import System
import Testing

@testable import Yap

/// A write that a test queues itself, so that what becomes one group is certain.
private final class TestRequest: WriteRequest {
    let isExclusive: Bool
    private let body: @Sendable (YapDatabaseReadWriteTransaction) throws -> Void
    private let state = Lock<(runCount: Int, outcome: Result<Void, any Error>?, answerCount: Int)>(
        (0, nil, 0))

    init(
        isExclusive: Bool = false,
        _ body: @escaping @Sendable (YapDatabaseReadWriteTransaction) throws -> Void
    ) {
        self.isExclusive = isExclusive
        self.body = body
    }

    func run(in core: WriterCore) {
        let outcome = Result { try isExclusive ? core.alone(body) : core.member(body) }
        state.withLock {
            $0.runCount += 1
            $0.outcome = outcome
        }
    }

    func fail(_ error: any Error) {
        state.withLock { state in
            if case .failure = state.outcome { return }
            state.outcome = .failure(error)
        }
    }

    func resume() { state.withLock { $0.answerCount += 1 } }

    var runCount: Int { state.withLock { $0.runCount } }
    var answerCount: Int { state.withLock { $0.answerCount } }
    var failure: (any Error)? {
        state.withLock { if case .failure(let error) = $0.outcome { error } else { nil } }
    }
    var code: YapDatabaseError.Code? { (failure as? YapDatabaseError)?.code }
}

struct GroupCommitTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let log = Log()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    private func serve(_ requests: [TestRequest]) {
        let queue = WorkQueue<any WriteRequest>()
        for request in requests { _ = queue.push(request) }
        GroupWriter(queue: queue, writer: database.writer).runOnce()
        #expect(requests.allSatisfy { $0.answerCount == 1 })
    }

    private func keys() throws -> [String] {
        let cached = try connection.blocking.read { try $0.allKeys(inCollection: "todos") }
        #expect(
            try database.newConnection().blocking.read { try $0.allKeys(inCollection: "todos") } == cached)
        return cached
    }

    @Test func membersOfAGroupShareOneCommitAndHaveSnapshotsOfTheirOwn() throws {
        database.addInlineCommitObserver { [log] in
            log.add("\($0.snapshot) \($0.insertedKeys(inCollection: "todos"))")
        }
        let readerSnapshots = Lock<[UInt64]>([])
        let other = database.newConnection()
        let requests = (1...3).map { number in
            TestRequest { [log] transaction in
                log.add("\(number) sees \(try transaction.allKeys(inCollection: "todos").count)")
                // Nothing is committed before the last member has run.
                let snapshot = try other.blocking.read(\.snapshot)
                readerSnapshots.withLock { $0.append(snapshot) }
                try transaction.set("t", "\(number)")
            }
        }
        serve(requests)
        #expect(requests.allSatisfy { $0.failure == nil })
        #expect(readerSnapshots.withLock { $0 } == [0, 0, 0])
        #expect(log.lines == ["1 sees 0", "2 sees 1", "3 sees 2", #"1 ["1"]"#, #"2 ["2"]"#, #"3 ["3"]"#])
        #expect(try keys() == ["1", "2", "3"])
        #expect(database.snapshot == 3)
    }

    @Test func aMemberThatFailsDoesNotTouchItsNeighbours() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        let requests = [
            TestRequest { try $0.set("buy", "1") },
            TestRequest { transaction throws in
                try transaction.set("buy", "2")
                try transaction.set("changed", "1")
                throw Refused()
            },
            TestRequest { transaction throws in
                #expect(try transaction.todo("1")?.title == "buy")
                #expect(try transaction.todo("2") == nil)
                #expect(try transaction.ext("words", as: WordCounter.self).count(of: "buy") == 1)
                try transaction.set("buy", "3")
            },
        ]
        serve(requests)
        #expect(requests.map { $0.failure is Refused } == [false, true, false])
        #expect(try keys() == ["1", "3"])
        let count = try connection.blocking.read {
            try $0.ext("words", as: WordCounter.self).count(of: "buy")
        }
        #expect(count == 2)
    }

    @Test func aFullDiskFailsTheWholeGroupAndNoClosureRunsTwice() throws {
        try connection.blocking.readWrite { try $0.set("old", "0") }
        database.addInlineCommitObserver { [log] in log.add("commit \($0.snapshot)") }
        let requests = [
            TestRequest { try $0.set("t", "1") },
            TestRequest { transaction in
                try transaction.fillDisk()
                try transaction.set(String(repeating: "x", count: 100_000), "2")
            },
            TestRequest { transaction in
                try transaction.emptyDisk()
                try transaction.set("t", "3")
            },
        ]
        serve(requests)
        #expect(requests.map(\.code) == [.diskFull, .diskFull, nil])
        #expect(requests.map(\.runCount) == [1, 1, 1])
        #expect(try keys() == ["0", "3"])
        #expect(log.lines == ["commit 2"])
    }

    @Test func aCommitThatFailsFailsAllMembers() throws {
        try database.letCommitsFail()
        let requests = [
            TestRequest { try $0.set("t", "1") },
            TestRequest { try $0.makeCommitFail() },
            TestRequest { try $0.set("t", "3") },
        ]
        serve(requests)
        #expect(requests.map(\.code) == [.sqlite, .sqlite, .sqlite])
        #expect(requests.map(\.runCount) == [1, 1, 1])
        #expect(try keys() == [])
        #expect(database.snapshot == 0)
    }

    @Test func withoutTheWriteLockNoMemberRuns() throws {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 0
        let impatient = try folder.open(options)
        let request = TestRequest { try $0.set("t", "1") }
        try connection.blocking.readWrite { _ in
            let queue = WorkQueue<any WriteRequest>()
            _ = queue.push(request)
            GroupWriter(queue: queue, writer: impatient.writer).runOnce()
        }
        #expect(request.code == .busy && request.runCount == 0)
    }

    @Test func aRequestThatNeedsItsOwnTransactionKeepsItsPlaceInTheLine() throws {
        database.addInlineCommitObserver { [log] in log.add("\($0.snapshot)") }
        let requests = [
            TestRequest { try $0.set("a", "1") },
            TestRequest(isExclusive: true) { transaction throws in
                #expect(try transaction.todo("1") != nil)
                try transaction.set("b", "2")
            },
            TestRequest { transaction throws in
                #expect(try transaction.todo("2") != nil)
                try transaction.set("c", "3")
            },
        ]
        serve(requests)
        #expect(requests.allSatisfy { $0.failure == nil })
        #expect(log.lines == ["1", "2", "3"])
    }

    /// Where there is no thread for the writer, nobody comes back for what is left.
    @Test func whatComesWhileACallerServesTheQueueIsServedToo() throws {
        let queue = WorkQueue<any WriteRequest>()
        let late = [
            TestRequest { try $0.set("b", "2") },
            TestRequest(isExclusive: true) { try $0.set("c", "3") },
            TestRequest { try $0.set("d", "4") },
        ]
        let first = TestRequest { transaction in
            for request in late { _ = queue.push(request) }
            try transaction.set("a", "1")
        }
        _ = queue.push(first)
        GroupWriter(queue: queue, writer: database.writer).runOnce()
        #expect(([first] + late).map(\.answerCount) == [1, 1, 1, 1])
        #expect(try keys() == ["1", "2", "3", "4"])
    }

    @Test func manyAsynchronousCallersAllCommit() async throws {
        let database = database
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for caller in 0..<64 {
                group.addTask {
                    let connection = database.newConnection()
                    for number in 0..<20 {
                        try await connection.readWrite { try $0.set("t", "\(caller) \(number)") }
                    }
                    // One's own write is there at once.
                    return try await connection.read { transaction throws in
                        #expect(try transaction.todo("\(caller) 19") != nil)
                        return transaction.snapshot
                    }
                }
            }
            for try await snapshot in group { #expect(snapshot >= 20) }
        }
        #expect(database.snapshot == 64 * 20)
        let count = try await connection.read { try $0.numberOfKeys(inCollection: "todos") }
        #expect(count == 64 * 20)
    }

    @Test func aThreadThatWaitsIsCountedOnForOneElementOnly() {
        for _ in 0..<200 {
            let queue = WorkQueue<Int>()
            let ready = WorkQueue<Bool>()
            let ended = WorkQueue<Bool>()
            #expect(
                startThread {
                    _ = ready.push(true)
                    _ = queue.take(max: 1)
                    _ = ended.push(true)
                })
            _ = ready.take(max: 1)
            let answers = [queue.push(1), queue.push(2)]
            #expect(answers != [.taken, .taken])
            _ = ended.take(max: 1)
        }
    }

    @Test func readsOfOneConnectionRunInTurnAndOfSeveralAtOnce() async throws {
        let connection = connection
        let isReading = Lock(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await connection.read { _ in
                        #expect(
                            isReading.withLock { reading in
                                defer { reading = true }
                                return !reading
                            })
                        isReading.withLock { $0 = false }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

import Testing

@testable import Yap

/// Threads whose transactions wait for each other.
struct DeadlockTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connections: [YapDatabaseConnection]

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connections = (0..<3).map { [database] in database.newConnection(name: "\($0)") }
        try connections[0].blocking.readWrite { try $0.set("eggs", "1") }
    }

    /// Runs each closure on a thread of its own. It calls what it gets once it holds its own transaction, and that
    /// returns when all others do.
    private func together(_ bodies: [@Sendable (_ meet: () -> Void) throws -> Void]) -> [YapDatabaseError
        .Code?]
    {
        let (arrived, mayGo) = (WorkQueue<Int>(), WorkQueue<Int>())
        let ended = WorkQueue<YapDatabaseError.Code?>()
        for body in bodies {
            let isStarted = startThread {
                let code = code {
                    try body {
                        _ = arrived.push(0)
                        _ = mayGo.take(max: 1)
                    }
                }
                _ = ended.push(code)
            }
            #expect(isStarted)
        }
        for _ in bodies { _ = arrived.take(max: 1) }
        for _ in bodies { _ = mayGo.push(0) }
        return bodies.flatMap { _ in ended.take(max: 1) ?? [] }
    }

    /// One of them is refused, and the others end.
    private func expectOneRefusal(_ codes: [YapDatabaseError.Code?]) {
        #expect(codes.filter { $0 == .deadlock }.count == 1)
        #expect(codes.filter { $0 == nil }.count == codes.count - 1)
        #expect(code { try connections[0].blocking.readWrite { try $0.set("milk", "2") } } == nil)
        for connection in connections { #expect(code { try connection.blocking.read { _ in } } == nil) }
    }

    @Test func readsInsideOfEachOtherOnTwoThreadsAreRefusedInsteadOfWaitingForEver() {
        let (one, other) = (connections[0], connections[1])
        expectOneRefusal(
            together([
                { meet in
                    try one.blocking.read { _ in
                        meet()
                        try other.blocking.read { _ = try $0.todo("1") }
                    }
                },
                { meet in
                    try other.blocking.read { _ in
                        meet()
                        try one.blocking.read { _ = try $0.todo("1") }
                    }
                },
            ]))
    }

    @Test func readsOfThreeThreadsInACircleAreRefusedInsteadOfWaitingForEver() {
        let bodies = (0..<3).map { index -> @Sendable (() -> Void) throws -> Void in
            { [connections] meet in
                try connections[index].blocking.read { _ in
                    meet()
                    try connections[(index + 1) % 3].blocking.read { _ = try $0.todo("1") }
                }
            }
        }
        expectOneRefusal(together(bodies))
    }

    @Test func aWriteInsideOfAReadAndAReadInsideOfAWriteOnTwoThreadsAreRefusedInsteadOfWaitingForEver() {
        let connection = connections[0]
        expectOneRefusal(
            together([
                { meet in
                    try connection.blocking.read { _ in
                        meet()
                        try connection.blocking.readWrite { try $0.set("a", "1") }
                    }
                },
                { meet in
                    try connection.blocking.readWrite { _ in
                        meet()
                        try connection.blocking.read { _ in }
                    }
                },
            ]))
    }

    enum Wait: CaseIterable { case flush, close, flushOfAProxy }

    @Test(arguments: Wait.allCases)
    func waitingForTheWriterInsideOfAReadForWhichAWriteWaitsIsRefused(_ wait: Wait) async throws {
        let connection = connections[0]
        let notes = try YapDatabaseProxy(connections[1], of: String.self, in: "notes")
        let (isReading, isWriting) = (WorkQueue<Int>(), WorkQueue<Int>())
        let codes = WorkQueue<YapDatabaseError.Code?>()
        let isStarted = startThread { [database] in
            let code = code {
                try connection.blocking.read { _ in
                    _ = isReading.push(0)
                    _ = isWriting.take(max: 1)
                    switch wait {
                    case .flush: try database.blocking.flushTransactions()
                    case .close: try database.blocking.close()
                    case .flushOfAProxy:
                        try notes.setObject("a", forKey: "1")
                        try notes.blocking.flush()
                    }
                }
            }
            _ = codes.push(code)
        }
        #expect(isStarted)
        #expect(await taken(isReading) == 0)
        var refusals = 0
        do {
            try await connection.readWrite { _ in
                _ = isWriting.push(0)
                try connection.blocking.read { _ in }
            }
        } catch let error as YapDatabaseError where error.code == .deadlock {
            refusals += 1
        }
        if await taken(codes) == .deadlock { refusals += 1 }
        #expect(refusals == 1)
    }

    /// The next element, without blocking a thread of Swift's.
    private func taken<Element: Sendable>(_ queue: WorkQueue<Element>) async -> Element? {
        await withCheckedContinuation { continuation in
            _ = startThread { continuation.resume(returning: queue.take(max: 1)?.first) }
        }
    }

    @Test func theErrorNamesTheConnection() throws {
        let list = database.newConnection(name: "list")
        let error = try #require(throws: YapDatabaseError.self) {
            try list.blocking.read { _ in try list.blocking.read { _ in } }
        }
        #expect(error.code == .nestedTransaction && error.message.contains("the connection \"list\""))
    }

    @Test func nestedTransactionsThatCannotDeadlockRun() throws {
        let (one, other) = (connections[0], connections[1])
        try one.blocking.read { _ in
            try one.blocking.readWrite { try $0.set("a", "1") }
            try database.blocking.flushTransactions()
            try other.blocking.read { _ in
                try other.blocking.readWrite { try $0.set("b", "1") }
            }
        }
        try one.blocking.readWrite { transaction throws in
            #expect(try one.blocking.read { try $0.todo("1") }?.title == "b")
            #expect(try other.blocking.read { try $0.todo("1") }?.title == "b")
            #expect(code { try database.blocking.flushTransactions() } == .deadlock)
        }
    }

    @Test func threadsThatOnlyWaitForOneAnotherAreNeverRefused() throws {
        let codes = together(
            (0..<6).map { index in
                { [connections] meet in
                    meet()
                    for number in 0..<100 {
                        // Always the lower connection first.
                        try connections[index % 2].blocking.read { _ in
                            try connections[2].blocking.read { _ in
                                try connections[2].blocking.readWrite { try $0.set("\(number)", "\(index)") }
                            }
                        }
                    }
                }
            })
        #expect(codes == Array(repeating: nil, count: 6))
    }
}

import SQLite
import System
import Testing

@testable import Yap

/// Reads and writes whose task is cancelled while they wait or run.
@Suite struct CancelledTransactionTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    /// A task, which a closure that runs in it cancels.
    private final class Cancelled: Sendable {
        private let task = Lock<Task<Void, any Error>?>(nil)
        private let (begins, begin) = AsyncStream.makeStream(of: Void.self)

        /// Runs `body`, and returns the error that it ends with.
        func run(_ body: @escaping @Sendable () async throws -> Void) async -> (any Error)? {
            let begins = begins
            let task = Task {
                for await _ in begins { break }
                try await body()
            }
            self.task.withLock { $0 = task }
            begin.yield()
            do {
                try await task.value
                return nil
            } catch {
                return error
            }
        }

        func cancel() { task.withLock { $0 }?.cancel() }
    }

    private func fill(_ count: Int) throws {
        try connection.blocking.readWrite { transaction in
            for number in 0..<count { try transaction.set("t", "\(number)") }
        }
    }

    @Test func aWriteThatIsCancelledFailsAtItsNextCallAndKeepsNothing() async throws {
        let (connection, cancelled, calls) = (connection, Cancelled(), Lock(0))
        let error = await cancelled.run {
            try await connection.readWrite { transaction in
                try transaction.set("a", "1")
                cancelled.cancel()
                // The error of one call that is caught doesn't let the others go on.
                for key in ["2", "3"] {
                    if (try? transaction.set("b", key)) != nil { calls.withLock { $0 += 1 } }
                }
            }
        }
        #expect(error is CancellationError && calls.withLock { $0 } == 0)
        #expect(database.snapshot == 0)
        try await connection.readWrite { try $0.set("c", "1") }
        #expect(try await connection.read { try $0.allKeys(inCollection: "todos") } == ["1"])
    }

    @Test func aWriteThatIsCancelledTakesNoOtherOfItsCommitAlong() async throws {
        let (connection, other, cancelled) = (connection, database.newConnection(), Cancelled())
        async let kept: Void = other.readWrite { try $0.set("kept", "kept") }
        let error = await cancelled.run {
            try await connection.readWrite { transaction in
                cancelled.cancel()
                try transaction.set("a", "1")
            }
        }
        try await kept
        #expect(error is CancellationError)
        #expect(try await connection.read { try $0.allKeys(inCollection: "todos") } == ["kept"])
    }

    @Test func aWriteWhoseClosureHasReturnedIsCommittedAllTheSame() async throws {
        let (connection, cancelled) = (connection, Cancelled())
        let error = await cancelled.run {
            try await connection.readWrite { transaction in
                try transaction.set("a", "1")
                cancelled.cancel()
            }
        }
        #expect(error == nil)
        #expect(database.snapshot == 1)
    }

    @Test func aReadThatIsCancelledEndsBetweenTwoRows() async throws {
        try fill(100)
        let (connection, cancelled, rows) = (connection, Cancelled(), Lock(0))
        let error = await cancelled.run {
            try await connection.read { transaction in
                for _ in try transaction.objects(Todo.self, inCollection: "todos") {
                    rows.withLock { $0 += 1 }
                    cancelled.cancel()
                }
            }
        }
        #expect(error is CancellationError && rows.withLock { $0 } == 1)
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "todos") } == 100)
    }

    /// A statement whose second step is endless.
    private static func stepEndlessly(
        _ transaction: YapDatabaseReadTransaction, beforeSecond: () -> Void
    ) throws {
        try transaction.sqlite.withStatement(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 2"
        ) { statement in
            _ = try statement.step()
            beforeSecond()
            _ = try statement.step()
        }
    }

    @Test func aReadThatIsCancelledEndsInAStatement() async throws {
        try fill(10)
        let (connection, cancelled) = (connection, Cancelled())
        let error = await cancelled.run {
            try await connection.read { transaction in
                try Self.stepEndlessly(transaction, beforeSecond: cancelled.cancel)
            }
        }
        #expect(error is CancellationError)
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "todos") } == 10)
    }

    @Test func aLongLivedReadThatIsCancelledEndsAndKeepsItsSnapshot() async throws {
        try fill(100)
        let (list, cancelled, rows) = (try await connection.beginLongLivedRead(), Cancelled(), Lock(0))
        try await connection.readWrite { try $0.set("later", "later") }
        let error = await cancelled.run {
            try await list.read { transaction in
                for _ in try transaction.objects(Todo.self, inCollection: "todos") {
                    rows.withLock { $0 += 1 }
                    cancelled.cancel()
                }
            }
        }
        try #require(error is CancellationError && rows.withLock { $0 } == 1)
        let again = Cancelled()
        let errorInStatement = await again.run {
            try await list.read { try Self.stepEndlessly($0, beforeSecond: again.cancel) }
        }
        #expect(errorInStatement is CancellationError)
        #expect(try await list.read { try $0.numberOfKeys(inCollection: "todos") } == 100)
        #expect(list.snapshot == 1)
        #expect(try await list.moveToNewest().map(\.snapshot) == [2])
        #expect(try await list.read { try $0.numberOfKeys(inCollection: "todos") } == 101)
        try await database.close()
    }

    @Test func whatIsCancelledBeforeItsTurnDoesNotRun() async throws {
        let (connection, runs, cancellation) = (connection, Lock(0), TransactionCancellation())
        cancellation.cancel()
        await #expect(throws: CancellationError.self) {
            try await withCheckedThrowingContinuation { (answer: CheckedContinuation<Void, any Error>) in
                let request = MemberRequest(by: connection, cancellation: cancellation) { _ in
                    runs.withLock { $0 += 1 }
                } answer: {
                    answer.resume(with: $0)
                }
                connection.database.shell.write(request, connection.database.writer)
            }
        }
        #expect(throws: CancellationError.self) {
            try connection.readNow(cancellation: cancellation) { _ in runs.withLock { $0 += 1 } }
        }
        #expect(runs.withLock { $0 } == 0 && database.snapshot == 0)
    }

    @Test func anObservationEndsWhenItsTaskIsCancelledInARead() async throws {
        let (connection, cancelled, values) = (connection, Cancelled(), Lock(0))
        let error = await cancelled.run {
            let counts = connection.observe { transaction in
                cancelled.cancel()
                return try transaction.numberOfKeys(inCollection: "todos")
            }
            for try await _ in counts { values.withLock { $0 += 1 } }
        }
        #expect(error == nil && values.withLock { $0 } == 0)
    }
}

import Dispatch
import SQLiteTestSupport
import System
import Testing
import Yap

/// Observers that an app adds: they may block for good.
@Suite struct CommitObserverTests {
    private func database(_ folder: TemporaryFolder) throws -> YapDatabase {
        try YapDatabase(path: folder.file("a.yap")) { $0.register(Int.self, inCollection: "a") }
    }

    @Test func anObserverThatBlocksHoldsUpNeitherWritesNorOtherObservers() async throws {
        let folder = try TemporaryFolder()
        let database = try database(folder)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        database.addCommitObserver { _ in
            gate.wait()
            gate.signal()
        }
        let (snapshots, continuation) = AsyncStream.makeStream(of: UInt64.self)
        database.addCommitObserver { continuation.yield($0.snapshot) }
        let connection = database.newConnection()
        let first = database.snapshot
        for value in 1...5 {
            try await connection.readWrite { try $0.setObject(value, forKey: "k", inCollection: "a") }
            try await connection.readWrite { try $0.setObject(-value, forKey: "k", inCollection: "a") }
        }
        var seen: [UInt64] = []
        for await snapshot in snapshots {
            seen.append(snapshot)
            if seen.count == 10 { break }
        }
        #expect(seen == (1...10).map { first + $0 })
        try await database.close()
    }

    @Test func anObserverMayWrite() async throws {
        let folder = try TemporaryFolder()
        let database = try database(folder)
        let (values, continuation) = AsyncStream.makeStream(of: Int?.self)
        let connection = database.newConnection()
        database.addCommitObserver { commit in
            guard commit.hasChange(forKey: "k", inCollection: "a") else { return continuation.finish() }
            try? connection.blocking.readWrite { try $0.setObject(2, forKey: "other", inCollection: "a") }
            continuation.yield(
                try? connection.blocking.read { try $0.object(Int.self, forKey: "other", inCollection: "a") })
        }
        try await database.newConnection().readWrite { try $0.setObject(1, forKey: "k", inCollection: "a") }
        var seen: [Int?] = []
        for await value in values { seen.append(value) }
        #expect(seen == [2])
        try await database.close()
    }

    private final class Witness: Sendable {
        private let whenReleased: @Sendable () -> Void
        init(_ whenReleased: @escaping @Sendable () -> Void) { self.whenReleased = whenReleased }
        deinit { whenReleased() }
    }

    /// An observer that says when nothing can call it any more.
    private func observer(
        whenReleased: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable (YapDatabaseCommit) -> Void {
        let witness = Witness(whenReleased)
        return { _ in withExtendedLifetime(witness, body) }
    }

    @Test func aRemovedObserverIsNotCalledAgain() async throws {
        let folder = try TemporaryFolder()
        let database = try database(folder)
        let connection = database.newConnection()
        // The first commit holds the observer; the second waits for it when it is removed.
        let (entered, first) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        let calls = Lock(0)
        let (ended, last) = AsyncStream.makeStream(of: Void.self)
        let removed = database.addCommitObserver(
            observer(whenReleased: { last.finish() }) {
                calls.withLock { $0 += 1 }
                first.finish()
                gate.wait()
            })
        try await connection.readWrite { try $0.setObject(1, forKey: "k", inCollection: "a") }
        for await _ in entered {}
        try await connection.readWrite { try $0.setObject(2, forKey: "k", inCollection: "a") }
        database.removeCommitObserver(removed)
        gate.signal()
        for await _ in ended {}
        #expect(calls.withLock { $0 } == 1)
        try await database.close()
    }
}

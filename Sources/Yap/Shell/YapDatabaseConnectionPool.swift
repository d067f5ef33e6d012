import System

/// Runs reads of many tasks at the same time, on a few connections of one database.
///
/// The reads of one connection wait for each other. A pool gives each read to an idle connection, opens another
/// connection if none is idle, or otherwise queues it where the fewest reads are queued.
///
/// ```swift
/// let pool = YapDatabaseConnectionPool(database)
/// let todo = try await pool.read { try $0.object(Todo.self, forKey: "1", inCollection: "todos") }
/// ```
///
/// Use a pool for reads that are long or come from many tasks, such as those of a server. Each connection has its own
/// caches, so a pool uses the memory of several connections, and a row may be decoded once for each. A pool doesn't
/// write: all writes of a database run one at a time, so a single connection is enough.
///
/// Each read uses the newest snapshot, so two reads may use different ones. Read values that must be consistent in
/// one closure. A read that begins after a write has returned sees that write.
public final class YapDatabaseConnectionPool: Sendable {
    private struct Member {
        let connection: YapDatabaseConnection
        /// Number of running and pending reads.
        var readsCount = 0
    }

    /// Database of the connections.
    public let database: YapDatabase
    /// Maximum number of connections.
    public let connectionsMax: Int

    /// Connections are only added, so none is released inside the lock.
    private let members = Lock<[Member]>([])

    /// Creates a pool without connections. Each is opened when a read needs it.
    ///
    /// - Parameters:
    ///   - database: The database to read.
    ///   - connectionsMax: Maximum number of connections, at least 1. Asynchronous reads also share as many
    ///     threads as there are processors, regardless of the number of connections.
    public init(_ database: YapDatabase, connectionsMax: Int = 3) {
        self.database = database
        self.connectionsMax = max(1, connectionsMax)
    }

    /// Runs `body` on the newest snapshot, on a thread of the database, and returns its result.
    ///
    /// Cancelling the task ends it as it ends a read of a connection.
    /// - Throws: The error of `body`; `CancellationError`; `YapDatabaseError` with `closed`, or an error of the file.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        let (index, connection) = begin()
        defer { end(index) }
        return try await connection.read(body)
    }

    /// Blocking form of this pool's call.
    public var blocking: Blocking { Blocking(pool: self) }

    /// Blocking form of a pool's call: it runs on the caller's thread and waits. Don't use it in async code.
    public struct Blocking: Sendable {
        let pool: YapDatabaseConnectionPool

        /// Runs `body` on the newest snapshot, and returns its result.
        ///
        /// - Throws: The error of `body`; `YapDatabaseError` with `nestedTransaction` inside another read of this
        ///   pool, `closed`, or an error of the file.
        @available(*, noasync, message: "call `try await pool.read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            // Two threads that each hold one connection and wait for the other's would wait forever.
            if pool.isReadingHere {
                throw YapDatabaseError(.nestedTransaction, "a read of the pool is open on this thread")
            }
            let (index, connection) = pool.begin()
            defer { pool.end(index) }
            return try connection.readNow(body).result
        }
    }

    /// Number of open connections.
    var connectionsCount: Int { members.withLock { $0.count } }

    /// Number of running and pending reads.
    var readsCount: Int { members.withLock { $0.reduce(0) { $0 + $1.readsCount } } }

    /// True if this thread is inside a read of this pool.
    private var isReadingHere: Bool {
        members.withLock { $0.contains { $0.connection.reader.isMine } }
    }

    /// Counts a read at the connection that it will use. Of equally busy connections, it uses the earliest
    /// one, which has the fullest cache.
    func begin() -> (index: Int, connection: YapDatabaseConnection) {
        members.withLock { members in
            var best = members.indices.min { members[$0].readsCount < members[$1].readsCount }
            if best.map({ members[$0].readsCount > 0 }) ?? true, members.count < connectionsMax {
                best = members.count
                members.append(Member(connection: database.newConnection()))
            }
            guard let best else { preconditionFailure("a pool has no room for a connection") }
            members[best].readsCount += 1
            return (best, members[best].connection)
        }
    }

    func end(_ index: Int) {
        members.withLock { $0[index].readsCount -= 1 }
    }
}

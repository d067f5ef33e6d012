import System

/// Reads of many tasks at the same time, on up to a few connections of one database.
///
/// The reads of one connection wait for each other. A pool gives each read to an idle connection, opens another one if
/// none is idle, and else queues it behind the fewest reads.
///
/// ```swift
/// let pool = YapDatabaseConnectionPool(database)
/// let todo = try await pool.read { try $0.object(Todo.self, forKey: "1", inCollection: "todos") }
/// ```
///
/// Use a pool for reads that are long or come from many tasks, such as a server's. Each connection has caches of its
/// own, so a pool uses the memory of several connections, and a row may be decoded once for each. A pool doesn't write:
/// all writes of a database run one at a time, so a single connection is enough for them.
///
/// Each read has the newest snapshot; two reads of one pool may have different ones. Read in one closure what must
/// fit together. A read that begins after a write has returned sees that write.
public final class YapDatabaseConnectionPool: Sendable {
    private struct Member {
        let connection: YapDatabaseConnection
        /// Reads that run or wait.
        var readsCount = 0
    }

    /// The database whose connections these are.
    public let database: YapDatabase
    /// Maximum number of connections.
    public let connectionsMax: Int

    /// Connections are only added, so none is released inside the lock.
    private let members = Lock<[Member]>([])

    /// Makes a pool without a connection; each is opened when a read needs it.
    ///
    /// - Parameters:
    ///   - database: The database to read.
    ///   - connectionsMax: Maximum number of connections, at least 1. Asynchronous reads also share as many threads as
    ///     there are processors, whatever the number of connections.
    public init(_ database: YapDatabase, connectionsMax: Int = 3) {
        self.database = database
        self.connectionsMax = max(1, connectionsMax)
    }

    /// Runs `body` on the newest snapshot, on a thread of the database's own, and returns what it returns.
    ///
    /// When its task is cancelled, it ends as a read of a connection does.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError` of code `closed` or what the file gave.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        let (index, connection) = begin()
        defer { end(index) }
        return try await connection.read(body)
    }

    /// The form that runs on the caller's thread and waits.
    public var blocking: Blocking { Blocking(pool: self) }

    /// The form of a pool's call that runs on the caller's thread and waits. Not for use in async code.
    public struct Blocking: Sendable {
        let pool: YapDatabaseConnectionPool

        /// Runs `body` on the newest snapshot, and returns what it returns.
        ///
        /// - Throws: What `body` throws; `YapDatabaseError` of code `nestedTransaction` inside of another read of this
        ///   pool, `closed`, or what the file gave.
        @available(*, noasync, message: "call `try await pool.read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            // Two threads that each hold one connection and wait for the other's would wait for ever.
            if pool.isReadingHere {
                throw YapDatabaseError(.nestedTransaction, "a read of the pool is open on this thread")
            }
            let (index, connection) = pool.begin()
            defer { pool.end(index) }
            return try connection.readNow(body).result
        }
    }

    /// Number of connections that were opened.
    var connectionsCount: Int { members.withLock { $0.count } }

    /// Number of reads that run or wait.
    var readsCount: Int { members.withLock { $0.reduce(0) { $0 + $1.readsCount } } }

    /// Whether this thread is inside of a read of this pool.
    private var isReadingHere: Bool {
        members.withLock { $0.contains { $0.connection.reader.isMine } }
    }

    /// Counts a read in at the connection that it is to use. The earliest of several equal ones: its cache has most.
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

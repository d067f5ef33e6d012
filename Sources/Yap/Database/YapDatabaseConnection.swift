import SQLite
import System

/// A way into the database: it reads with its own SQLite handle and caches, and writes through the database's
/// writer.
///
/// Its reads run one at a time; different connections read at the same time. It may be used from any thread.
public final class YapDatabaseConnection: Sendable {
    /// The database it belongs to, which lives at least as long.
    public let database: YapDatabase

    /// The name that `newConnection(name:permits:)` gave it. Errors `nestedTransaction` and `deadlock` have it in their
    /// message, and commits in `YapDatabaseCommit.connectionName`.
    public var name: String? { identity.name }

    /// The transactions that it may begin.
    public let permits: YapDatabasePermittedTransactions

    let identity: ConnectionIdentity
    let reader: OwnedLock<ReaderCore?>
    let jobs = SerialJobs()
    let pendingReads = PendingCount()

    init(
        _ database: YapDatabase, name: String? = nil, permits: YapDatabasePermittedTransactions = .any
    ) {
        self.database = database
        identity = ConnectionIdentity(name: name)
        self.permits = permits
        reader = OwnedLock(nil, name: name.map { "the connection \"\($0)\"" } ?? "a connection")
    }

    deinit {
        let idleReaders = database.idleReaders
        try? reader.withLock { core in
            if let core { idleReaders.keep(core) }
        }
    }

    /// Number of asynchronous reads of this connection that wait or run.
    public var pendingReadsCount: Int { pendingReads.count }

    /// The forms that run on the caller's thread and wait.
    public var blocking: Blocking { Blocking(connection: self) }

    /// The forms of a connection's calls that run on the caller's thread and wait. Not for use in async code.
    public struct Blocking: Sendable {
        let connection: YapDatabaseConnection

        /// Runs `body` on the newest snapshot, and returns what it returns.
        ///
        /// - Throws: What `body` throws; `YapDatabaseError`: `nestedTransaction` inside of another read on this
        ///   connection; `deadlock` if another thread reads on this connection and waits for a transaction of this
        ///   thread; `transactionNotPermitted`; `closed`, or what the file gave.
        @available(*, noasync, message: "call `try await connection.read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            try connection.check(.blockingRead)
            return try connection.readNow(body).result
        }

        /// Runs `body` in a write transaction, commits, and returns what it returned.
        ///
        /// - Throws: What `body` throws; `YapDatabaseError`: `nestedTransaction` inside of another write; `deadlock`
        ///   inside of a read on a connection for which the running write waits; `transactionNotPermitted`; `busy`,
        ///   `diskFull`, `closed`, ... In each case nothing of the transaction is kept, on disk or in memory.
        @available(*, noasync, message: "call `try await connection.readWrite { ... }`")
        public func readWrite<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws
            -> Result
        {
            try connection.check(.blockingReadWrite)
            return try connection.database.writer.withCore { try $0.alone(by: connection, body) }
        }

        /// Releases the memory of the connection's caches, as the asynchronous form does.
        ///
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside of a read on this connection; `deadlock` as `read`.
        @available(*, noasync, message: "call `try await connection.flushMemory()`")
        public func flushMemory() throws {
            try connection.flushMemoryNow()
        }

        /// What the connection keeps in memory. Throws as `flushMemory()`.
        @available(*, noasync, message: "call `try await connection.memoryUse()`")
        public func memoryUse() throws -> YapDatabaseMemoryUse {
            try connection.memoryUseNow()
        }
    }

    func flushMemoryNow() throws {
        // Released after the lock: its caches hold objects of the app.
        var closed: ReaderCore?
        try reader.withLock { core in
            if database.isClosed { swap(&core, &closed) }
            core?.store.flushMemory()
        }
    }

    func memoryUseNow() throws -> YapDatabaseMemoryUse {
        try reader.withLock { $0?.store.memoryUse ?? YapDatabaseMemoryUse() }
    }

    func readNow<Result>(
        tracksReads: Bool = false, cancellation: TransactionCancellation? = nil,
        _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> (result: Result, reads: ReadDependencies?) {
        // Released after the lock: its caches hold objects of the app.
        var closed: ReaderCore?
        // And this is the app's.
        var userInfo: Any?
        defer {
            withExtendedLifetime(userInfo) {}
            database.writer.tellObservers()
        }
        return try reader.withLock { core in
            if database.isClosed {
                swap(&core, &closed)
                throw YapDatabaseError(.closed, "the database was closed")
            }
            let opened = try core ?? database.idleReaders.take() ?? database.makeReader()
            core = opened
            defer { if opened.takeWantsHealing() { database.heal() } }
            return try opened.read(
                by: self, tracksReads: tracksReads, userInfo: &userInfo, cancellation: cancellation, body)
        }
    }
}

extension YapDatabase {
    func makeReader() throws -> ReaderCore {
        if isClosed { throw YapDatabaseError(.closed, "the database was closed") }
        var sqliteOptions = options.sqliteOptions
        // A file that was deleted under the database must not come back empty.
        sqliteOptions.create = false
        do {
            let sqlite = try Connection(path: path, options: sqliteOptions)
            let mark = try ConfigTable(sqlite).mark()
            // Its first transaction finds nothing new: what another process committed is noticed here.
            log.noteUnexplained(mark)
            return ReaderCore(
                StoreConnection(sqlite, mark: mark, registrations: registrations, options: options), log: log)
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
    }
}

import SQLite
import System

/// Reads with its own SQLite handle and caches, and writes through the database's writer.
///
/// Reads of one connection run one at a time; different connections read at the same time. A connection may be used
/// from any thread.
///
/// ```swift
/// let todo = try await connection.read { try $0.object(Todo.self, forKey: id, inCollection: "todos") }
/// ```
public final class YapDatabaseConnection: Sendable {
    /// The database. The connection keeps it alive.
    public let database: YapDatabase

    /// The name given to `newConnection(name:permits:)`. It is in the message of `nestedTransaction` and `deadlock`,
    /// and in `YapDatabaseCommit.connectionName`.
    public var name: String? { identity.name }

    /// Transactions that the connection may begin.
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

    /// Number of asynchronous reads of this connection that are pending or running.
    public var pendingReadsCount: Int { pendingReads.count }

    /// Blocking forms of this connection's calls.
    public var blocking: Blocking { Blocking(connection: self) }

    /// Blocking forms of a connection's calls: they run on the caller's thread and wait. Don't use them in async
    /// code.
    public struct Blocking: Sendable {
        let connection: YapDatabaseConnection

        /// Runs `body` on the newest snapshot, and returns its result.
        ///
        /// ```swift
        /// let count = try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") }
        /// ```
        ///
        /// - Parameter body: Reads with the transaction.
        /// - Returns: The result of `body`.
        /// - Throws: The error of `body`; `YapDatabaseError`: `nestedTransaction` inside another read on this
        ///   connection; `deadlock` if another thread reads on this connection and waits for a transaction of this
        ///   thread; `transactionNotPermitted`; `closed`; or an error of the file.
        @available(*, noasync, message: "call `try await connection.read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            try connection.check(.blockingRead)
            return try connection.readNow(body).result
        }

        /// Runs `body` in a write transaction, commits, and returns the result of `body`.
        ///
        /// ```swift
        /// try connection.blocking.readWrite { try $0.setObject(todo, forKey: todo.id, inCollection: "todos") }
        /// ```
        ///
        /// - Parameter body: Reads and writes with the transaction.
        /// - Returns: The result of `body`.
        /// - Throws: The error of `body`; `YapDatabaseError`: `nestedTransaction` inside another write; `deadlock`
        ///   inside a read on a connection that the running write waits for; `transactionNotPermitted`; `busy`,
        ///   `diskFull`, `closed`, ... After an error, nothing of the transaction is kept, on disk or in memory.
        @available(*, noasync, message: "call `try await connection.readWrite { ... }`")
        public func readWrite<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws
            -> Result
        {
            try connection.check(.blockingReadWrite)
            return try connection.database.writer.withCore { try $0.alone(by: connection, body) }
        }

        /// Releases the memory of the connection's caches.
        ///
        /// - Throws: `YapDatabaseError`: `nestedTransaction` inside a read on this connection; `deadlock` as for
        ///   `read`.
        @available(*, noasync, message: "call `try await connection.flushMemory()`")
        public func flushMemory() throws {
            try connection.flushMemoryNow()
        }

        /// Returns the memory that the connection uses.
        ///
        /// - Throws: The errors of `flushMemory()`.
        @available(*, noasync, message: "call `try await connection.memoryUse()`")
        public func memoryUse() throws -> YapDatabaseMemoryUse {
            try connection.memoryUseNow()
        }
    }

    func flushMemoryNow() throws {
        // Released after the lock, because its caches hold objects of the app.
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
        // Released after the lock, because its caches hold objects of the app.
        var closed: ReaderCore?
        // Also released after the lock: a value of the app.
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
        // A file that was deleted while the database is open must not be created again, empty.
        sqliteOptions.create = false
        do {
            let sqlite = try Connection(path: path, options: sqliteOptions)
            let mark = try ConfigTable(sqlite).mark()
            // Another process may have committed. The first transaction of this connection would not report it, so it
            // is noted here.
            log.noteUnexplained(mark)
            return ReaderCore(
                StoreConnection(sqlite, mark: mark, registrations: registrations, options: options), log: log)
        } catch let error as SQLiteError {
            throw YapDatabaseError(error, path: path)
        }
    }
}

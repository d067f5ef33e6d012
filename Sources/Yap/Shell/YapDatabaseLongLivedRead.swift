import System

/// A read that stands at one commit until it is moved, so that many reads fit together while others write.
///
/// ```swift
/// let list = try await connection.beginLongLivedRead()
/// let titles = try await list.read { try $0.objects(Todo.self, inCollection: "todos").map(\.object.title) }
/// // Later, when the screen may change:
/// let commits = try await list.moveToNewest()
/// let isChanged = commits.contains { $0.hasChange(inCollection: "todos") }
/// ```
///
/// It has an SQLite handle and caches of its own. Its reads run one at a time, on any thread. It ends with `end()`,
/// when it is released, and when the database is closed.
///
/// The write-ahead log keeps the commits after the one at which it stands. If that makes the log larger than
/// `YapDatabaseOptions.longLivedReadLogBytesMax`, it expires: reads throw `longLivedReadExpired` until it is moved.
/// Move it after commits, so that it doesn't.
public final class YapDatabaseLongLivedRead: Sendable {
    /// The database that it reads.
    public let database: YapDatabase

    private let reader: LongLivedReader
    private let permits: YapDatabasePermittedTransactions
    private let jobs = SerialJobs()

    init(_ connection: YapDatabaseConnection) throws {
        database = connection.database
        permits = connection.permits
        let name = connection.name.map { " of the connection \"\($0)\"" } ?? ""
        reader = LongLivedReader(name: "a long-lived read\(name)", database.idleReaders)
        try database.longLivedReads.add(reader)
        // Their commits may make it expire.
        database.observeOtherProcesses()
        do {
            try reader.begin(database.idleReaders.take() ?? database.makeReader())
        } catch {
            end()
            throw error
        }
        database.writer.tellObservers()
    }

    deinit { end() }

    /// The number of the commit at which it stands, or stood last.
    public var snapshot: UInt64 { reader.mark.number }

    /// Runs `body` on the snapshot, on a thread of the database's own, and returns what it returns.
    ///
    /// When its task is cancelled, a read that waits doesn't run, and one that runs ends: at the next call of its
    /// transaction, or in the middle of a statement. The snapshot stays.
    /// - Throws: What `body` throws; `CancellationError`; `YapDatabaseError`: `longLivedReadExpired` until it is moved;
    ///   `transactionEnded` after `end()`; `closed`, or what the file gave.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        try check(.read)
        return try await TransactionCancellation.ofTask { cancellation in
            try await database.shell.queueRead(jobs) { try self.readNow(cancellation, body) }
        }
    }

    /// Moves to the newest commit, also after it has expired.
    ///
    /// If the write-ahead log is larger than `YapDatabaseOptions.logBytesMax`, it also waits for the writes that run or
    /// were queued before, so that the log can begin anew.
    ///
    /// - Returns: The commits that lead from the one at which it stood to the newest, the oldest first. Empty if it
    ///   stood at the newest. The last 256 commits, with up to 50,000 changes, are known, and none before one of
    ///   another process. If there were others, the first one has their number in `missedCommits`, so that its queries
    ///   for a change return true. None has `info`, which observers alone get.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `transactionEnded` after `end()`; `closed`, or what the file
    ///   gave. Then it holds no commit, and may be moved again.
    @discardableResult
    public func moveToNewest() async throws -> [YapDatabaseCommit] {
        try check(.read)
        let (commits, isLogLarge) = try await database.shell.queueRead(jobs) { try self.moveNow() }
        guard isLogLarge else { return commits }
        return commits + ((try? await database.exclusively { [reader] in $0.move(reader) }) ?? [])
    }

    /// Ends it: reads throw `transactionEnded`. Doesn't wait for a read that runs, which goes on. A second call does
    /// nothing.
    public func end() {
        reader.end(because: LongLivedReader.ended)
        database.longLivedReads.remove(reader)
    }

    /// The forms that run on the caller's thread and wait.
    public var blocking: Blocking { Blocking(owner: self) }

    /// The forms of a long-lived read's calls that run on the caller's thread and wait. Not for use in async code.
    public struct Blocking: Sendable {
        let owner: YapDatabaseLongLivedRead

        /// Runs `body` on the snapshot, and returns what it returns.
        ///
        /// - Throws: As the asynchronous form; `YapDatabaseError`: `nestedTransaction` inside of another read of it;
        ///   `deadlock` if another thread reads with it and waits for a transaction of this thread;
        ///   `transactionNotPermitted`.
        @available(*, noasync, message: "call `try await read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            try owner.check(.blockingRead)
            return try owner.readNow(nil, body)
        }

        /// Moves to the newest commit, as the asynchronous form does, and waits for no write.
        ///
        /// - Returns: The commits that lead there.
        /// - Throws: As the asynchronous form, and as `read`.
        @available(*, noasync, message: "call `try await moveToNewest()`")
        @discardableResult
        public func moveToNewest() throws -> [YapDatabaseCommit] {
            try owner.check(.blockingRead)
            let (commits, isLogLarge) = try owner.moveNow()
            guard isLogLarge else { return commits }
            let reader = owner.reader
            return commits + ((owner.database.writer.withCoreIfFree { $0.move(reader) } ?? []))
        }
    }

    private func check(_ wanted: YapDatabasePermittedTransactions) throws {
        try permits.check(wanted, of: "the long-lived read's connection")
    }

    private func readNow<Result>(
        _ cancellation: TransactionCancellation?, _ body: (YapDatabaseReadTransaction) throws -> Result
    ) throws -> Result {
        let (result, wantsHealing) = try reader.read(cancellation: cancellation, body)
        if wantsHealing { database.heal() }
        return result
    }

    private func moveNow() throws -> (commits: [YapDatabaseCommit], isLogLarge: Bool) {
        defer { database.writer.tellObservers() }
        let (commits, logFileBytes) = try reader.moveToNewest()
        return (commits, logFileBytes > database.options.logBytesMax)
    }
}

extension YapDatabaseConnection {
    /// Begins a read that stands at the newest commit until it is moved.
    ///
    /// It doesn't use this connection, which goes on to read the newest commit; it has its name and its permits.
    ///
    /// ```swift
    /// let list = try await connection.beginLongLivedRead()
    /// ```
    ///
    /// - Throws: `CancellationError`; `YapDatabaseError`: `tooManyLongLivedReads` if
    ///   `YapDatabaseOptions.longLivedReadsMax` are open; `transactionNotPermitted`; `closed`, or what the file gave.
    public func beginLongLivedRead() async throws -> YapDatabaseLongLivedRead {
        try check(.read)
        return try await queued { try YapDatabaseLongLivedRead(self) }
    }
}

extension YapDatabaseConnection.Blocking {
    /// Begins a read that stands at the newest commit until it is moved. Throws as the asynchronous form.
    @available(*, noasync, message: "call `try await connection.beginLongLivedRead()`")
    public func beginLongLivedRead() throws -> YapDatabaseLongLivedRead {
        try connection.check(.blockingRead)
        return try YapDatabaseLongLivedRead(connection)
    }
}

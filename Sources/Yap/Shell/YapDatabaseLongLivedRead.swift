import System

/// A read that stays at one commit until it is moved, so that many reads are consistent while others write.
///
/// ```swift
/// let list = try await connection.beginLongLivedRead()
/// let titles = try await list.read { try $0.objects(Todo.self, inCollection: "todos").map(\.object.title) }
/// // Later, when the screen may change:
/// let commits = try await list.moveToNewest()
/// let isChanged = commits.contains { $0.hasChange(inCollection: "todos") }
/// ```
///
/// It has its own SQLite handle and caches. Its reads run one at a time, on any thread. It ends with `end()`, when it
/// is released, and when the database is closed.
///
/// The write-ahead log keeps all commits after its commit. If that makes the log larger than
/// `YapDatabaseOptions.longLivedReadLogBytesMax`, the read expires: it throws `longLivedReadExpired` until it is
/// moved. Move it after commits to avoid that.
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
        // Their commits can make it expire.
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

    /// Number of its current commit, or of its last one.
    public var snapshot: UInt64 { reader.mark.number }

    /// Runs `body` on the snapshot, on a thread of the database, and returns its result.
    ///
    /// If the task is cancelled, a pending read doesn't run, and a running one ends at the next call of its
    /// transaction, or within a statement. The snapshot stays.
    /// - Throws: The error of `body`; `CancellationError`; `YapDatabaseError`: `longLivedReadExpired` until it is
    ///   moved; `transactionEnded` after `end()`; `closed`, or an error of the file.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Result
    ) async throws -> Result {
        try check(.read)
        return try await TransactionCancellation.ofTask { cancellation in
            try await database.shell.queueRead(jobs) { try self.readNow(cancellation, body) }
        }
    }

    /// Moves to the newest commit, also after the read has expired.
    ///
    /// If the write-ahead log is larger than `YapDatabaseOptions.logBytesMax`, it also waits for running and queued
    /// writes, so that the log can restart.
    ///
    /// - Returns: The commits from the previous commit to the newest, oldest first. Empty if it was at the newest.
    ///   Only the last 256 commits with up to 50,000 changes are known, and none before a commit of another process.
    ///   If others are missing, `missedCommits` of the first commit has their number, so that its queries for a
    ///   change return true. `info` is nil, because only observers receive it.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `transactionEnded` after `end()`; `closed`, or an error of
    ///   the file. It then holds no commit, and can be moved again.
    @discardableResult
    public func moveToNewest() async throws -> [YapDatabaseCommit] {
        try check(.read)
        let (commits, isLogLarge) = try await database.shell.queueRead(jobs) { try self.moveNow() }
        guard isLogLarge else { return commits }
        return commits + ((try? await database.exclusively { [reader] in $0.move(reader) }) ?? [])
    }

    /// Ends the long-lived read: later reads throw `transactionEnded`. Doesn't wait for a running read, which
    /// continues. A second call does nothing.
    public func end() {
        reader.end(because: LongLivedReader.ended)
        database.longLivedReads.remove(reader)
    }

    /// Blocking forms of its calls.
    public var blocking: Blocking { Blocking(owner: self) }

    /// Blocking forms of a long-lived read's calls: they run on the caller's thread and wait. Don't use them in async
    /// code.
    public struct Blocking: Sendable {
        let owner: YapDatabaseLongLivedRead

        /// Runs `body` on the snapshot, and returns its result.
        ///
        /// - Throws: The errors of the asynchronous form; `YapDatabaseError`: `nestedTransaction` inside another read
        ///   of it; `deadlock` if another thread reads with it and waits for a transaction of this thread;
        ///   `transactionNotPermitted`.
        @available(*, noasync, message: "call `try await read { ... }`")
        public func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
            try owner.check(.blockingRead)
            return try owner.readNow(nil, body)
        }

        /// Moves to the newest commit without waiting for writes.
        ///
        /// - Returns: The commits from the previous commit to the newest, oldest first.
        /// - Throws: The errors of the asynchronous form, and of `read`.
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
    /// Begins a read that stays at the newest commit until it is moved.
    ///
    /// It doesn't use this connection, which continues to read the newest commit. It has the connection's name and
    /// permits.
    ///
    /// ```swift
    /// let list = try await connection.beginLongLivedRead()
    /// ```
    ///
    /// - Throws: `CancellationError`; `YapDatabaseError`: `tooManyLongLivedReads` if
    ///   `YapDatabaseOptions.longLivedReadsMax` are open; `transactionNotPermitted`; `closed`, or an error of the
    ///   file.
    public func beginLongLivedRead() async throws -> YapDatabaseLongLivedRead {
        try check(.read)
        return try await queued { try YapDatabaseLongLivedRead(self) }
    }
}

extension YapDatabaseConnection.Blocking {
    /// Begins a read that stays at the newest commit until it is moved. Throws the errors of the asynchronous form.
    @available(*, noasync, message: "call `try await connection.beginLongLivedRead()`")
    public func beginLongLivedRead() throws -> YapDatabaseLongLivedRead {
        try connection.check(.blockingRead)
        return try YapDatabaseLongLivedRead(connection)
    }
}

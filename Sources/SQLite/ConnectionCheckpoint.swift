import CSQLite

/// Result of a checkpoint.
public struct CheckpointResult: Hashable, Sendable {
    /// Number of frames (pages) in the log. -1 if the database has no log.
    public let logFrames: Int
    /// Number of these frames that are in the database file now.
    public let checkpointedFrames: Int
    /// True if a connection reads from the log, so that no commit can restart it.
    public let hasReaders: Bool
}

// SQLite 3.7.0 to 3.51.2 loses commits when a checkpoint begins right after another one has ended, and a commit
// restarts the log meanwhile (https://www.sqlite.org/wal.html, "The WAL-Reset Bug"). Here no connection of any
// process commits during a `checkpoint()`, because this connection holds the file's write lock. A second one copies,
// because SQLite makes no checkpoint in a transaction. Only SQLite's PASSIVE mode is used, which takes no write lock;
// the others continue without it if it is taken.
//
// `copyLogWhileOthersCommit` holds no write lock. Another connection reads meanwhile: while one reads from the log,
// no commit restarts it (https://www.sqlite.org/walformat.html, "WAL Locks"). A reader that found everything copied
// reads from the file, and its lock keeps a checkpoint from writing to the file.
//
// The checkpoint that SQLite makes when the last connection is closed holds the file's exclusive lock, and every
// connection that uses the log holds a shared one, so no other connection can commit. Recovery makes no checkpoint,
// and holds the locks of writer, checkpoint and readers.
extension Connection {
    /// Copies pages from the write-ahead log to the database file, except pages after the snapshot of a
    /// reader, and syncs both. No connection commits meanwhile.
    ///
    /// - Parameters:
    ///   - readersMilliseconds: How long to wait for readers, so that everything is copied and the next commit
    ///     restarts the log.
    ///   - whenCopied: Called each time that everything is copied, while no connection can commit. A reader at the
    ///     newest commit that ends its transaction meanwhile and begins another one then reads the same from the
    ///     file, and no longer needs the log.
    /// - Throws: `SQLiteError`: `isBusy` if another connection writes longer than the busy timeout.
    @discardableResult
    public func checkpoint(
        readersMilliseconds: Int32 = 0, whenCopied: () -> Void = {}
    ) throws -> CheckpointResult {
        var waitedMilliseconds: Int32 = 0
        while true {
            let result = try copyLog(whenCopied)
            (checkpointError, checkpointDueFrames) = (nil, options.checkpointFrames)
            let isWhole = result.checkpointedFrames == result.logFrames
            if waitedMilliseconds >= readersMilliseconds || isWhole && !result.hasReaders { return result }
            sqlite3_sleep(1)
            waitedMilliseconds += 1
        }
    }

    /// Makes a checkpoint if the log has grown by `checkpointFrames` since the last attempt.
    func checkpointIfDue() {
        if logFrames >= checkpointDueFrames { attemptCheckpoint() }
    }

    /// Makes a checkpoint without waiting for readers. It can't fail the commit before it: `checkpointError` has its
    /// error.
    public func attemptCheckpoint() {
        try? setBusyTimeout(milliseconds: 0)
        defer { try? setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds) }
        do {
            try checkpoint()
        } catch let error as SQLiteError {
            // The connection that is writing makes it, or the next commit here.
            guard !error.isBusy else { return }
            checkpointError = error
            // Each attempt copies everything again.
            checkpointDueFrames = Int32(clamping: logFrames + Int(options.checkpointFrames))
        } catch {
            preconditionFailure("a checkpoint threw no SQLiteError: \(error)")
        }
    }

    /// Copies the current log of the file at `path` to the file, and syncs both, while other connections continue to
    /// commit. A later `checkpoint()` only has to copy their commits.
    ///
    /// - Parameter options: The options with which the file is open.
    /// - Returns: Number of frames of the log that are in the file now.
    /// - Throws: `SQLiteError`: `isBusy` if another checkpoint is running.
    @discardableResult
    public static func copyLogWhileOthersCommit(path: String, options: OpenOptions) throws -> Int {
        var options = options
        options.create = false
        let copier = try Connection(path: path, options: options)
        let holder = try Connection(path: path, options: options)
        return try holder.transaction(.deferred) {
            try holder.withStatement("SELECT 1 FROM sqlite_schema LIMIT 1") { _ = try $0.step() }
            return try copier.copyLogPassively().checkpointedFrames
        }
    }

    private func copyLog(_ whenCopied: () -> Void) throws -> CheckpointResult {
        let copier = try checkpointer()
        try begin(.immediate)
        let result = Result { try copier.copyLogPassively() }
        if case .success(let frames) = result, frames.logFrames == frames.checkpointedFrames { whenCopied() }
        // First, because this connection reads from the log too.
        try rollback()
        let (logFrames, checkpointedFrames) = try result.get()
        return CheckpointResult(
            logFrames: logFrames, checkpointedFrames: checkpointedFrames, hasReaders: hasLogReaders)
    }

    private func copyLogPassively() throws -> (logFrames: Int, checkpointedFrames: Int) {
        var logFrames: Int32 = 0
        var checkpointedFrames: Int32 = 0
        try check(
            sqlite3_wal_checkpoint_v2(
                handle, nil, SQLITE_CHECKPOINT_PASSIVE, &logFrames, &checkpointedFrames))
        return (Int(logFrames), Int(checkpointedFrames))
    }

    /// Bytes of the write-ahead log's file, or 0 if there is none. It is truncated to
    /// `OpenOptions.journalSizeLimitBytes` when a commit restarts the log.
    package var logFileBytes: Int64 {
        var bytes: Int64 = 0
        guard let log = file(SQLITE_FCNTL_JOURNAL_POINTER),
            let size = log.pointee.pMethods?.pointee.xFileSize, size(log, &bytes) == SQLITE_OK
        else { return 0 }
        return bytes
    }

    /// True if a connection reads from the log. A reader that begins after everything was copied reads from the file.
    private var hasLogReaders: Bool {
        guard let file = file(SQLITE_FCNTL_FILE_POINTER), let lock = file.pointee.pMethods?.pointee.xShmLock
        else { return false }
        // https://www.sqlite.org/walformat.html, "WAL Locks": the reader locks 1 to 4 follow those of the writer, the
        // checkpoint, recovery, and readers of the file.
        guard lock(file, 4, 4, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) == SQLITE_OK else { return true }
        _ = lock(file, 4, 4, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
        return false
    }
}

import SQLite
import System

/// A store in one SQLite file: everything of one environment of one container.
///
/// One connection writes and a few read, so that a reader doesn't wait for the disk, and reads on several threads
/// don't wait for each other. A write that has returned is on disk (`synchronous=FULL`, unless the options say
/// otherwise).
public final class SQLiteCloudStore: CloudStore {
    /// Where the file is.
    public let path: String
    /// Nil when the store is closed.
    private let writer: Lock<Connection?>
    private let readers: ReaderPool
    private let options: OpenOptions
    private let logLength = Lock(LogLength())
    private let lastCheckpointFailure = Lock<CloudStoreError?>(nil)

    /// How many threads read at once when nobody says another number; more wait for each other.
    public static let readersMax = 4

    /// Opens the file at `path`; makes it when there is none. `readersMax` threads read at once, more wait for
    /// each other: a connection for each is opened when it is first needed.
    ///
    /// - Throws: `CloudStoreError` when the file can't be opened, isn't a database, or isn't one of this
    /// store's.
    public convenience init(path: String, readersMax: Int = SQLiteCloudStore.readersMax) throws {
        var options = OpenOptions()
        options.checkpointFrames = Self.checkpointFrames
        try self.init(path: path, options: options, readersMax: readersMax)
    }

    /// A record with many indexes changes a leaf for each: what is copied into the file seldom is copied once for many
    /// records. 32 MB of log are read again after a crash. A commit copies them itself where nobody has called
    /// `checkpoint` in time.
    private static let checkpointFrames: Int32 = 8_000

    /// A page that leaves the cache before the commit is written twice: those of most requests should fit.
    private static let writerCacheBytes: Int64 = 8 << 20

    /// Opens with options of SQLite's, for tests that let the disk fail.
    package init(
        path: String, options: OpenOptions, readersMax: Int = SQLiteCloudStore.readersMax
    ) throws {
        self.path = path
        self.options = options
        var writerOptions = options
        writerOptions.cacheBytes = Self.writerCacheBytes
        writer = Lock(
            try Self.translating(path: path) { [writerOptions] in
                let connection = try Connection(path: path, options: writerOptions) {
                    _ = try SQLiteStoreFormat.isPrepared($0, path: path)
                }
                try Self.syncWhatIsFound(connection)
                try SQLiteStoreFormat.prepare(connection, path: path)
                return connection
            })
        readers = try Self.translating(path: path) {
            try ReaderPool(connectionsMax: readersMax) { try Connection(path: path, options: options) }
        }
    }

    /// Syncs what is in the log. The last commit of a process that was killed may be whole in it, and unsynced: what a
    /// client is told of it, its counter first, a power loss must not take back. A checkpoint syncs the log before it
    /// copies it; that the file can't grow is no obstacle.
    private static func syncWhatIsFound(_ connection: Connection) throws {
        do {
            try connection.checkpoint()
        } catch let error as SQLiteError where error.isDiskFull {
            return
        }
    }

    /// Runs `body` on one snapshot of what is committed. See `CloudStore`.
    public func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try Self.translating(path: path) {
            try readers.withConnection { connection in
                try connection.transaction(.deferred) {
                    try body(SQLiteStoreTransaction(connection))
                }
            }
        }
    }

    /// Runs `body` in one write transaction. See `CloudStore`.
    public func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try writer.withLock { connection in
            try Self.translating(path: path) {
                guard let connection else { throw ReaderPool.Closed() }
                defer {
                    note(connection.checkpointError)
                    logLength.withLock { $0.note(frames: connection.logFrames) }
                }
                return try connection.transaction(.immediate) {
                    try body(SQLiteStoreTransaction(connection))
                }
            }
        }
    }

    /// Whether the log is so long that `checkpoint` should be called. See `CloudStore`.
    public var checkpointIsDue: Bool { logLength.withLock { $0.checkpointIsDue } }

    /// Copies the log into the file, the most of it while others write. See `CloudStore`.
    public func checkpoint() {
        logLength.withLock { $0.checkpointBegins() }
        // What can't be copied now, the writer's own attempt below finds too, and says why.
        _ = try? Connection.copyLogWhileOthersCommit(path: path, options: options)
        _ = retryCheckpoint()
    }

    /// Why the log can't be copied into the file: nil when the last attempt went well. What was committed stays in the
    /// log, which grows until an attempt goes well.
    public var checkpointFailure: CloudStoreError? { lastCheckpointFailure.withLock { $0 } }

    /// Tries to copy the log into the file now. Waits for the write that is under way. Closed, it does nothing.
    ///
    /// - Returns: `checkpointFailure` as it is afterwards.
    public func retryCheckpoint() -> CloudStoreError? {
        writer.withLock { connection in
            connection?.attemptCheckpoint()
            note(connection?.checkpointError)
        }
        return checkpointFailure
    }

    private func note(_ error: SQLiteError?) {
        lastCheckpointFailure.withLock { $0 = error.map { CloudStoreError($0, path: path) } }
    }

    /// Closes the file: the last of its connections puts the log into it, so that one file has all. Waits for the write
    /// that is under way. Whatever is asked of the store afterwards fails.
    public func close() {
        readers.close()
        writer.withLock { $0 = nil }
    }

    /// What SQLite finds wrong with the file; empty when it is sound.
    package func integrityCheck() throws -> [String] {
        try Self.translating(path: path) { try readers.withConnection { try $0.integrityCheck() } }
    }

    private static func translating<Result>(path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SQLiteError {
            throw CloudStoreError(error, path: path)
        } catch is ReaderPool.Closed {
            throw CloudStoreError.failed(path: path, reason: "the store is closed")
        }
    }
}

extension CloudStoreError {
    init(_ error: SQLiteError, path: String) {
        self =
            if error.isNotADatabase {
                .notADatabase(path: path)
            } else if error.isCorrupt {
                .damaged(path: path, reason: error.message)
            } else if error.isDiskFull {
                .diskFull(path: path)
            } else if error.isBusy {
                .busy(path: path)
            } else if error.isCannotOpen || error.isReadOnly {
                .cannotOpen(path: path, reason: error.message)
            } else if error.isInputOutput {
                .diskFailing(path: path, reason: "\(error)")
            } else {
                .failed(path: path, reason: "\(error)")
            }
    }
}

/// How many frames the log has, and when it is copied next.
private struct LogLength {
    /// Half of what the writer lets come together: there is time to copy it while others write.
    private static let dueFrames = 4_000
    /// By so many more a log that readers hold has grown when it is tried again.
    private static let moreFrames = 1_000

    private var frames = 0
    private var nextFrames = dueFrames

    var checkpointIsDue: Bool { frames >= nextFrames }

    /// A commit has left so many.
    mutating func note(frames: Int) {
        if frames < self.frames { nextFrames = Self.dueFrames }
        self.frames = frames
    }

    mutating func checkpointBegins() { nextFrames = frames + Self.moreFrames }
}

import SQLite
import System

/// A store in one SQLite file: all rows of one environment of one container.
///
/// One connection writes and several read, so readers don't wait for the disk, and reads on several threads don't wait
/// for each other. When a write returns, it is on disk (`synchronous=FULL`, unless the options differ).
package final class SQLiteCloudStore: CloudStore {
    /// The file's path.
    package let path: String
    /// Nil after `close`.
    private let writer: Lock<Connection?>
    private let readers: ReaderPool
    private let options: OpenOptions
    private let logLength = Lock(LogLength())
    private let lastCheckpointFailure = Lock<CloudStoreError?>(nil)

    /// Default maximum number of threads that read at the same time. Further threads wait.
    package static let readersMax = 4

    /// Opens the file at `path`, or makes it.
    ///
    /// - Parameter readersMax: Maximum number of threads that read at the same time. Further threads wait. Each
    ///   connection is opened when it is first needed.
    /// - Throws: `CloudStoreError` if the file can't be opened, isn't a database, or belongs to another program.
    package convenience init(path: String, readersMax: Int = SQLiteCloudStore.readersMax) throws {
        var options = OpenOptions()
        options.checkpointFrames = Self.checkpointFrames
        try self.init(path: path, options: options, readersMax: readersMax)
    }

    /// Frames of the log after which a commit copies the log itself if `checkpoint` wasn't called in time. A record
    /// with many indexes changes a page for each: with rare checkpoints, a page is copied once for many records. After
    /// a crash, 32 MB of log are read again.
    private static let checkpointFrames: Int32 = 8_000

    /// A page that leaves the cache before the commit is written twice. The pages of most requests should fit.
    private static let writerCacheBytes: Int64 = 8 << 20

    /// Opens the file with options of SQLite, for tests with failing disks.
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

    /// Syncs the log. The last commit of a killed process may be complete in the log but not synced. A power loss must
    /// not undo what a client learns from it, for example its counter. A checkpoint syncs the log before it copies it.
    /// A full disk doesn't prevent that.
    private static func syncWhatIsFound(_ connection: Connection) throws {
        do {
            try connection.checkpoint()
        } catch let error as SQLiteError where error.isDiskFull {
            return
        }
    }

    /// Runs `body` on one snapshot of the committed rows. See `CloudStore`.
    package func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try Self.translating(path: path) {
            try readers.withConnection { connection in
                try connection.transaction(.deferred) {
                    try body(SQLiteStoreTransaction(connection))
                }
            }
        }
    }

    /// Runs `body` in one write transaction. See `CloudStore`.
    package func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
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

    /// True if the log is so long that `checkpoint` should be called. See `CloudStore`.
    package var checkpointIsDue: Bool { logLength.withLock { $0.checkpointIsDue } }

    /// Copies the log into the file, mostly while other threads write. See `CloudStore`.
    package func checkpoint() {
        logLength.withLock { $0.checkpointBegins() }
        // The writer's attempt below finds and reports the same failure.
        _ = try? Connection.copyLogWhileOthersCommit(path: path, options: options)
        _ = retryCheckpoint()
    }

    /// Reason for which the log can't be copied into the file, or nil if the last attempt succeeded. The committed rows
    /// stay in the log, which grows until an attempt succeeds.
    package var checkpointFailure: CloudStoreError? { lastCheckpointFailure.withLock { $0 } }

    /// Tries to copy the log into the file now. Waits for the current write. Does nothing after `close`.
    ///
    /// - Returns: The new value of `checkpointFailure`.
    package func retryCheckpoint() -> CloudStoreError? {
        writer.withLock { connection in
            connection?.attemptCheckpoint()
            note(connection?.checkpointError)
        }
        return checkpointFailure
    }

    private func note(_ error: SQLiteError?) {
        lastCheckpointFailure.withLock { $0 = error.map { CloudStoreError($0, path: path) } }
    }

    /// Closes the file. Its last connection copies the log into the file. Waits for the current write. Later calls of
    /// the store fail.
    package func close() {
        readers.close()
        writer.withLock { $0 = nil }
    }

    /// Returns the problems that SQLite finds in the file, or an empty array if it is sound.
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

/// The length of the log in frames, and when it is copied next.
private struct LogLength {
    /// Half of the length at which the writer copies the log itself, so that there is time to copy it while others
    /// write.
    private static let dueFrames = 4_000
    /// Number of frames after which a log that readers blocked is tried again.
    private static let moreFrames = 1_000

    private var frames = 0
    private var nextFrames = dueFrames

    var checkpointIsDue: Bool { frames >= nextFrames }

    /// Records the length of the log after a commit.
    mutating func note(frames: Int) {
        if frames < self.frames { nextFrames = Self.dueFrames }
        self.frames = frames
    }

    mutating func checkpointBegins() { nextFrames = frames + Self.moreFrames }
}

import CSQLite
import System

/// An open database file, in WAL mode.
///
/// Not thread-safe: the owner makes sure that one thread at a time uses it. Every failure throws `SQLiteError`.
public final class Connection {
    let handle: OpaquePointer
    private let cache = StatementCache()
    var recentSavepoint: SavepointSQL?
    /// Number of frames in the log, updated by SQLite's hook.
    private let logCounter: UnsafeMutablePointer<Int32>
    private var copier: Connection?
    private var isOpen = true
    /// Limits on the statements of the owners of tables.
    let authorizer = StatementAuthorizer()
    var hasFullTextExcerpts = false
    /// State of the files when they were opened without locks. Nil with locks.
    private let filesAlone: DatabaseFiles?

    /// Path that it was opened with.
    public let path: String
    /// Options that it was opened with.
    public let options: OpenOptions
    /// Error of the last checkpoint after a commit, or nil if it succeeded. After an error, the log keeps all
    /// commits until a checkpoint succeeds.
    public internal(set) var checkpointError: SQLiteError?
    /// Number of frames in the log from which `commit()` makes a checkpoint.
    var checkpointDueFrames: Int32

    /// Opens the file at `path` (`:memory:` for a database in memory), and sets WAL mode, synchronous and busy
    /// timeout.
    ///
    /// - Throws: `SQLiteError`: `isCannotOpen`, `isNotADatabase` (the file isn't changed), `isCorrupt`, `isBusy`.
    public convenience init(path: String, options: OpenOptions = OpenOptions()) throws {
        try self.init(path, options, inspect: { _ in })
    }

    /// Opens a file for writing after `inspect` has accepted it. If `inspect` throws, the file isn't changed.
    ///
    /// `inspect` reads, and may be called twice: with a read-only connection, and again before the file is switched
    /// to WAL mode, which another program would notice.
    package convenience init(path: String, options: OpenOptions, inspect: (Connection) throws -> Void) throws
    {
        var readOnly = options
        readOnly.readOnly = true
        do {
            let connection = try Connection(path, readOnly, inspect: inspect)
            try connection.close()
        } catch let error as SQLiteError where error.isCannotOpen || error.isReadOnly {
            // The file doesn't exist yet, or a process was killed in a transaction with a rollback journal, which is
            // used until the switch to WAL mode. The next open for writing rolls it back.
        }
        try self.init(path, options, inspect: inspect)
    }

    /// Opens a file for reading in a given mode, regardless of its permissions, for tests.
    convenience init(path: String, mode: ReadingMode) throws {
        var options = OpenOptions()
        options.readOnly = true
        try self.init(path, options, mode: mode, inspect: { _ in })
    }

    private init(
        _ path: String, _ options: OpenOptions, mode: ReadingMode? = nil, inspect: (Connection) throws -> Void
    ) throws {
        self.path = path
        self.options = options
        checkpointDueFrames = options.checkpointFrames
        let opened = try OpenedFile(path, options, mode)
        (handle, filesAlone) = (opened.handle, opened.filesAlone)
        logCounter = .allocate(capacity: 1)
        logCounter.initialize(to: 0)
        countLogFrames()
        do {
            try configure()
            try inspect(self)
            try setWriteAheadLog()
        } catch let error as SQLiteError {
            throw OpenedFile.explained(error, path, options)
        }
    }

    deinit {
        // A statement from `prepare` may still exist: with close_v2 the file is closed when the last one is released.
        cache.removeAll()
        copier = nil
        if isOpen {
            sqlite3_wal_hook(handle, nil, nil)
            sqlite3_close_v2(handle)
        }
        logCounter.deallocate()
    }

    /// Finalises the cached statements and closes the file. The connection can't be used afterwards.
    ///
    /// The last connection to a file also makes a checkpoint and removes the write-ahead log. A second call does
    /// nothing.
    /// - Throws: `SQLiteError` with `isBusy` if a statement is still in use; the connection then stays open.
    public func close() throws {
        guard isOpen else { return }
        cache.removeAll()
        copier = nil
        try check(sqlite3_close(handle))
        isOpen = false
    }

    /// Runs one or more statements and ignores their rows.
    public func execute(_ sql: String) throws {
        precondition(isOpen, "the connection is closed")
        try check(sqlite3_exec(handle, sql, nil, nil, nil), sql: sql)
    }

    /// Prepares one statement, which the caller keeps.
    ///
    /// - Throws: `SQLiteError`, also if `sql` contains no statement or more than one.
    public func prepare(_ sql: String) throws -> Statement {
        precondition(isOpen, "the connection is closed")
        var text = sql
        let pointer = try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { try prepare($0, sql: sql) }
        }
        return Statement(pointer: pointer)
    }

    /// Passes `body` a prepared statement from the connection's cache, and returns the result of `body`.
    ///
    /// Afterwards the statement is reset and its bindings are cleared. If the statement is already in use (the same
    /// SQL inside the closure), another one is prepared.
    public func withStatement<Result>(
        _ sql: String, _ body: (borrowing Statement) throws -> Result
    ) throws -> Result {
        let entry = try cache.take(sql) { try prepare(sql) }
        defer { cache.putBack(entry) }
        return try body(entry.statement)
    }

    /// True if a transaction is open.
    ///
    /// Check it after every error: a full disk, a failed write or a lack of memory can roll the whole transaction
    /// back.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Number of frames (pages) in the write-ahead log after this connection's last commit.
    public var logFrames: Int { Int(logCounter.pointee) }

    /// Number of rows that the last INSERT, UPDATE or DELETE changed.
    public var changesCount: Int { Int(sqlite3_changes64(handle)) }

    /// Number of rows inserted, updated or deleted since the connection was opened.
    public var totalChangesCount: Int { Int(sqlite3_total_changes64(handle)) }

    /// Rowid of the last inserted row.
    public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Version of the loaded SQLite library, for example "3.40.1".
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    /// Build options of the loaded SQLite library, for example "ENABLE_FTS5".
    public static func compileOptions() -> [String] {
        var options: [String] = []
        while let option = sqlite3_compileoption_get(Int32(options.count)) {
            options.append(String(cString: option))
        }
        return options
    }

    func clearStatements() { cache.removeAll() }

    func check(_ result: Int32, sql: String? = nil) throws {
        guard result == SQLITE_OK else { throw SQLiteError(result, database: handle, sql: sql) }
    }

    private func prepare(_ sql: UnsafeBufferPointer<CChar>, sql text: String) throws -> OpaquePointer {
        guard let count = Int32(exactly: sql.count) else {
            throw SQLiteError(extendedCode: SQLITE_TOOBIG, message: "the SQL is longer than 2 GB")
        }
        var pointer: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        try check(sqlite3_prepare_v3(handle, sql.baseAddress, count, flags, &pointer, &tail), sql: text)
        guard let pointer else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no statement in the SQL", sql: text)
        }
        let used = sql.baseAddress.flatMap { start in tail.map { $0 - start } } ?? sql.count
        guard sql[used...].allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x09 || $0 == 0x3B }) else {
            sqlite3_finalize(pointer)
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "more than one statement", sql: text)
        }
        return pointer
    }

    func set(_ synchronous: Synchronous) throws {
        try execute("PRAGMA synchronous=\(synchronous.rawValue)")
    }

    /// Returns one of SQLite's open files, by the opcode that returns it.
    func file(_ opcode: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(handle, nil, opcode, &file) == SQLITE_OK ? file : nil
    }

    /// Throws an error with `isBusy` if the files were opened without locks and have changed since, because the reads
    /// may be inconsistent.
    func checkUnchanged() throws {
        guard let filesAlone, DatabaseFiles(path: path) != filesAlone else { return }
        throw SQLiteError(
            extendedCode: SQLITE_BUSY, message: "another process opened or wrote the file while it was read")
    }

    private func configure() throws {
        try setKey()
        try setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds)
        try set(options.synchronous)
        if let bytes = options.cacheBytes {
            // A negative number is in KiB; a positive one would be a number of pages.
            try execute("PRAGMA cache_size=\(-max(1, bytes / 1024))")
        }
        if let bytes = options.mmapBytes { try execute("PRAGMA mmap_size=\(bytes)") }
        if let bytes = options.journalSizeLimitBytes { try execute("PRAGMA journal_size_limit=\(bytes)") }
    }

    /// Counts the log's frames. The hook replaces SQLite's own, which would make a checkpoint.
    private func countLogFrames() {
        sqlite3_wal_hook(
            handle,
            { counter, _, _, frames in
                counter?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, logCounter)
    }

    /// Returns the connection that copies the log for this one's checkpoints. Opened when first needed.
    func checkpointer() throws -> Connection {
        if let copier { return copier }
        var options = options
        options.create = false
        let opened = try Connection(path: path, options: options)
        copier = opened
        return opened
    }

    private func setWriteAheadLog() throws {
        // Also for a read-only connection: this is the first read of the file, so a file that isn't a database is
        // detected at once.
        let keepsMode = options.readOnly || options.keepsJournalMode
        let sql = keepsMode ? "PRAGMA journal_mode" : "PRAGMA journal_mode=WAL"
        let statement = try prepare(sql)
        let mode = try statement.step() ? statement.text(at: 0) : ""
        guard mode == "wal" || mode == "memory" || keepsMode else {
            throw SQLiteError(
                extendedCode: SQLITE_CANTOPEN, message: "no write-ahead log but \(mode) for \(path)", sql: sql
            )
        }
    }
}

@available(*, unavailable) extension Connection: Sendable {}

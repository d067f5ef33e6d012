import CSQLite

/// An open database file, in WAL mode.
///
/// Not thread-safe: one thread at a time, which its owner sees to. Every failure throws `SQLiteError`.
public final class Connection {
    let handle: OpaquePointer
    private let cache = StatementCache()
    var recentSavepoint: SavepointSQL?
    /// The log's frames, which SQLite's hook counts.
    private let logCounter: UnsafeMutablePointer<Int32>
    private var copier: Connection?
    private var isOpen = true
    /// What a statement that is being prepared may do; nil: everything.
    var access: TableAccess?
    /// What the statement was not allowed to do first, in words.
    var refusal: String?
    /// Whether the statement that is being prepared drops a table of its owner.
    var dropsTable = false
    /// Whether the owner's statement runs: what is prepared now is prepared by a virtual table.
    var isRunning = false
    /// The tables of all owners, in lower case, and how many name each.
    var ownedTables: [String: Int] = [:]
    var hasAuthorizer = false
    var hasFullTextExcerpts = false
    /// The files as they were when they were opened without locks; nil with locks.
    private let filesAlone: DatabaseFiles?

    /// The path it was opened with.
    public let path: String
    /// The options it was opened with.
    public let options: OpenOptions
    /// Why the last checkpoint after a commit failed; nil when it went well. The log keeps all until one does.
    public internal(set) var checkpointError: SQLiteError?
    /// From how many frames in the log `commit()` makes a checkpoint.
    var checkpointDueFrames: Int32

    /// Opens the file at `path` (`:memory:` for a database in memory) and sets WAL, synchronous and busy timeout.
    ///
    /// - Throws: `SQLiteError`: `isCannotOpen`, `isNotADatabase` (the file is left as it is), `isCorrupt`, `isBusy`.
    public convenience init(path: String, options: OpenOptions = OpenOptions()) throws {
        try self.init(path, options, inspect: { _ in })
    }

    /// Opens a file for writing once `inspect` has accepted it. One that it refuses by throwing stays as it is.
    ///
    /// `inspect` reads, and may be called twice: with a connection that can't write, and again before the file is
    /// switched to WAL, which another program would notice.
    package convenience init(path: String, options: OpenOptions, inspect: (Connection) throws -> Void) throws
    {
        var readOnly = options
        readOnly.readOnly = true
        do {
            let connection = try Connection(path, readOnly, inspect: inspect)
            try connection.close()
        } catch let error as SQLiteError where error.isCannotOpen || error.isReadOnly {
            // There is no file yet, or a process died in a transaction with a rollback journal, as it is used until
            // the switch to WAL: the next open for writing rolls it back.
        }
        try self.init(path, options, inspect: inspect)
    }

    /// Opens a file for reading in a mode that its permissions don't call for, for tests.
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
        (handle, filesAlone) = try Self.open(path, options, mode)
        logCounter = .allocate(capacity: 1)
        logCounter.initialize(to: 0)
        countLogFrames()
        do {
            try configure()
            try inspect(self)
            try setWriteAheadLog()
        } catch let error as SQLiteError {
            throw Self.explained(error, path, options)
        }
    }

    deinit {
        // A statement from `prepare` may still live: with close_v2 the file closes when the last of them goes.
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
    /// The last connection to a file also checkpoints and removes its write-ahead log. A second call does nothing.
    /// - Throws: `SQLiteError` with `isBusy` when a statement is still in use; the connection then stays open.
    public func close() throws {
        guard isOpen else { return }
        cache.removeAll()
        copier = nil
        try check(sqlite3_close(handle))
        isOpen = false
    }

    /// Runs one or more statements and passes over their rows.
    public func execute(_ sql: String) throws {
        precondition(isOpen, "the connection is closed")
        try check(sqlite3_exec(handle, sql, nil, nil, nil), sql: sql)
    }

    /// Prepares one statement, for a caller that keeps it.
    ///
    /// - Throws: `SQLiteError`, also when `sql` holds no statement or more than one.
    public func prepare(_ sql: String) throws -> Statement {
        precondition(isOpen, "the connection is closed")
        var text = sql
        let pointer = try text.withUTF8 { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { try prepare($0, sql: sql) }
        }
        return Statement(pointer: pointer)
    }

    /// Lends `body` a prepared statement from the connection's cache, and returns what it returns.
    ///
    /// Afterwards the statement is reset and its bindings are cleared. A statement that is already in use (the same SQL
    /// inside the closure) is prepared anew.
    public func withStatement<Result>(
        _ sql: String, _ body: (borrowing Statement) throws -> Result
    ) throws -> Result {
        let entry = try cache.take(sql) { try prepare(sql) }
        defer { cache.putBack(entry) }
        return try body(entry.statement)
    }

    /// Whether a transaction is open.
    ///
    /// Ask after every error: a full disk, a failed write or a lack of memory can roll the whole transaction back.
    public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// How many frames (pages) the write-ahead log had after this connection's last commit.
    public var logFrames: Int { Int(logCounter.pointee) }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    public var changesCount: Int { Int(sqlite3_changes64(handle)) }

    /// How many rows were inserted, updated or deleted since the connection was opened.
    public var totalChangesCount: Int { Int(sqlite3_total_changes64(handle)) }

    /// The rowid of the last row that was inserted.
    public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The version of the SQLite library that is loaded, such as "3.40.1".
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    /// The options that the loaded SQLite library was built with, such as "ENABLE_FTS5".
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

    /// One of SQLite's open files, by the opcode that asks for it.
    func file(_ opcode: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(handle, nil, opcode, &file) == SQLITE_OK ? file : nil
    }

    private static func open(
        _ path: String, _ options: OpenOptions, _ mode: ReadingMode?
    ) throws -> (handle: OpaquePointer, filesAlone: DatabaseFiles?) {
        // An empty path or a leading NUL would silently open a temporary database.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "the path is empty or holds a NUL")
        }
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        if options.readOnly {
            flags |= SQLITE_OPEN_READONLY
        } else {
            flags |= SQLITE_OPEN_READWRITE | (options.create ? SQLITE_OPEN_CREATE : 0)
        }
        var (name, filesAlone) = (path, nil as DatabaseFiles?)
        try checkEncryption(options)
        // Permissions are those of the system's files.
        if options.readOnly, options.vfsName == nil {
            switch mode ?? ReadingMode(path: path) {
            case .shared: break
            case .refused(let missing): throw missing.error
            case .alone(let files):
                (name, filesAlone) = (immutableURI(of: path), files)
                flags |= SQLITE_OPEN_URI
            }
        }
        var handle: OpaquePointer?
        let result = sqlite3_open_v2(name, &handle, flags, options.vfsName)
        guard result == SQLITE_OK, let handle else {
            let error = SQLiteError(result, database: handle)
            sqlite3_close_v2(handle)
            throw explained(
                SQLiteError(extendedCode: error.extendedCode, message: "\(error.message): \(path)"), path,
                options)
        }
        return (handle, filesAlone)
    }

    /// The name by which SQLite opens a file without locks and without a log.
    private static func immutableURI(of path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = path.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x2D...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x7E: [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        // Without the two slashes, a path that begins with two would name a host.
        let start = path.hasPrefix("/") ? "file://" : "file:"
        return start + String(decoding: escaped, as: UTF8.self) + "?immutable=1"
    }

    /// SQLite's refusal to open or to write, with the permission that this process lacks.
    private static func explained(
        _ error: SQLiteError, _ path: String, _ options: OpenOptions
    ) -> SQLiteError {
        guard error.isCannotOpen || error.isReadOnly, options.vfsName == nil,
            !options.readOnly || DatabaseFiles(path: path) != nil,
            let missing = MissingPermission.forWriting(path)
        else { return error }
        return SQLiteError(
            extendedCode: error.extendedCode, message: "\(error.message): \(missing.text)", sql: error.sql)
    }

    /// Throws an error with `isBusy` if the files were opened without locks and aren't the same any more: what was read
    /// may be of several moments.
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
            // A negative number is in KiB, a positive one would be pages.
            try execute("PRAGMA cache_size=\(-max(1, bytes / 1024))")
        }
        if let bytes = options.mmapBytes { try execute("PRAGMA mmap_size=\(bytes)") }
        if let bytes = options.journalSizeLimitBytes { try execute("PRAGMA journal_size_limit=\(bytes)") }
    }

    /// Keeps count of the log's frames. The hook takes the place of SQLite's own, which would make a checkpoint.
    private func countLogFrames() {
        sqlite3_wal_hook(
            handle,
            { counter, _, _, frames in
                counter?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, logCounter)
    }

    /// The connection that copies the log for this one's checkpoints; opened when it is first needed.
    func checkpointer() throws -> Connection {
        if let copier { return copier }
        var options = options
        options.create = false
        let opened = try Connection(path: path, options: options)
        copier = opened
        return opened
    }

    private func setWriteAheadLog() throws {
        // Also for a read-only connection: the first read of the file is here, so what is no database is seen at once.
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

import CSQLite

/// What SQLite refused or failed to do: the code, the words for it, and the SQL that was running.
public struct SQLiteError: Error, Hashable, Sendable {
    /// The primary result code, such as 5 for `SQLITE_BUSY`.
    public let code: Int32
    /// The extended result code, such as 2067 for `SQLITE_CONSTRAINT_UNIQUE`; its low byte is `code`.
    public let extendedCode: Int32
    /// SQLite's own message.
    public let message: String
    /// The SQL that was prepared or running, if any was.
    public let sql: String?

    /// Makes an error from an extended result code.
    package init(extendedCode: Int32, message: String, sql: String? = nil) {
        code = extendedCode & 0xFF
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// The error that `database` reports last, for a call that returned `result`.
    init(_ result: Int32, database: OpaquePointer?, sql: String? = nil) {
        // The handle may hold an older error when a call failed before it touched the handle (SQLITE_MISUSE):
        // then the words for the result itself are the right ones.
        let reported = database.map { sqlite3_extended_errcode($0) } ?? result
        let isCurrent = database != nil && reported & 0xFF == result & 0xFF
        let words = isCurrent ? sqlite3_errmsg(database) : sqlite3_errstr(result)
        self.init(
            extendedCode: isCurrent ? reported : result,
            message: words.map { String(cString: $0) } ?? "unknown error", sql: sql)
    }

    /// A mistake in the SQL, or in a value that a function or virtual table parses: `SQLITE_ERROR`.
    public var isMistake: Bool { code == SQLITE_ERROR }
    /// Another connection holds the lock, and the busy timeout passed. Trying again later may succeed.
    public var isBusy: Bool { code == SQLITE_BUSY }
    /// The disk (or a quota) is full. SQLite may have rolled the transaction back: see `Connection.isInTransaction`.
    public var isDiskFull: Bool { code == SQLITE_FULL }
    /// The file is not an SQLite database. It was not changed.
    public var isNotADatabase: Bool { code == SQLITE_NOTADB }
    /// The file is a damaged database.
    public var isCorrupt: Bool { code == SQLITE_CORRUPT }
    /// A UNIQUE, NOT NULL, CHECK, PRIMARY KEY or FOREIGN KEY constraint refused the row.
    public var isConstraint: Bool { code == SQLITE_CONSTRAINT }
    /// The operating system reported a failed read, write, sync or lock.
    public var isInputOutput: Bool { code == SQLITE_IOERR }
    /// A file could not be synced.
    public var isSyncFailure: Bool { extendedCode == SQLITE_IOERR | 4 << 8 }
    static let cannotOpenCode = SQLITE_CANTOPEN
    /// The file can't be opened: no such folder or file, or no permission.
    public var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
    /// The statement names a table, or does something, that its owner has no right to.
    public var isRefused: Bool { code == SQLITE_AUTH }
    /// The file should be opened with a key, and the loaded library has no encryption.
    public var isEncryptionUnavailable: Bool { code == SQLITE_NOTFOUND }
    /// The file or the connection allows reading only.
    public var isReadOnly: Bool { code == SQLITE_READONLY }
}

extension SQLiteError: CustomStringConvertible {
    /// Code, message, what to do about it where there is something to do, and the SQL.
    public var description: String {
        var text = "SQLite error \(code)"
        if extendedCode != code { text += " (extended \(extendedCode))" }
        text += ": \(message)"
        if let advice { text += "; \(advice)" }
        if let sql { text += "; in: \(sql)" }
        return text
    }

    private var advice: String? {
        switch code {
        case SQLITE_BUSY: "another connection is writing, try again"
        case SQLITE_FULL: "free disk space, then try again"
        case SQLITE_NOTADB: "the file was left as it is, check the path, and the key if it is encrypted"
        case SQLITE_CORRUPT: "keep the file for inspection and restore a backup"
        case SQLITE_CANTOPEN: "check that the folder exists and may be written"
        default: nil
        }
    }
}

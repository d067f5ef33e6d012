import CSQLite

/// An error of SQLite: the code, the message, and the SQL that was running.
public struct SQLiteError: Error, Hashable, Sendable {
    /// Primary result code, for example 5 for `SQLITE_BUSY`.
    public let code: Int32
    /// Extended result code, for example 2067 for `SQLITE_CONSTRAINT_UNIQUE`. Its low byte is `code`.
    public let extendedCode: Int32
    /// SQLite's own message.
    public let message: String
    /// The SQL that was prepared or running, if any.
    public let sql: String?

    /// Creates an error from an extended result code.
    package init(extendedCode: Int32, message: String, sql: String? = nil) {
        code = extendedCode & 0xFF
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// Creates the error that `database` reports last, for a call that returned `result`.
    init(_ result: Int32, database: OpaquePointer?, sql: String? = nil) {
        // The handle may have an older error if a call failed before it touched the handle (SQLITE_MISUSE). Then the
        // message of the result itself is used.
        let reported = database.map { sqlite3_extended_errcode($0) } ?? result
        let isCurrent = database != nil && reported & 0xFF == result & 0xFF
        let words = isCurrent ? sqlite3_errmsg(database) : sqlite3_errstr(result)
        self.init(
            extendedCode: isCurrent ? reported : result,
            message: words.map { String(cString: $0) } ?? "unknown error", sql: sql)
    }

    /// True for a mistake in the SQL, or in a value that a function or virtual table parses: `SQLITE_ERROR`.
    public var isMistake: Bool { code == SQLITE_ERROR }
    /// True if another connection holds the lock, and the busy timeout passed. Retrying later may succeed.
    public var isBusy: Bool { code == SQLITE_BUSY }
    /// True if the disk (or a quota) is full. SQLite may have rolled the transaction back: see
    /// `Connection.isInTransaction`.
    public var isDiskFull: Bool { code == SQLITE_FULL }
    /// True if the file isn't an SQLite database. It wasn't changed.
    public var isNotADatabase: Bool { code == SQLITE_NOTADB }
    /// True if the file is a damaged database.
    public var isCorrupt: Bool { code == SQLITE_CORRUPT }
    /// True if a UNIQUE, NOT NULL, CHECK, PRIMARY KEY or FOREIGN KEY constraint rejected the row.
    public var isConstraint: Bool { code == SQLITE_CONSTRAINT }
    /// True if the operating system reported a failed read, write, sync or lock.
    public var isInputOutput: Bool { code == SQLITE_IOERR }
    /// True if a file couldn't be synced.
    public var isSyncFailure: Bool { extendedCode == SQLITE_IOERR | 4 << 8 }
    static let cannotOpenCode = SQLITE_CANTOPEN
    /// True if the file can't be opened: the folder or file is missing, or permission is denied.
    public var isCannotOpen: Bool { code == SQLITE_CANTOPEN }
    /// True if the owner of the statement has no permission for a table or an operation in it.
    public var isRefused: Bool { code == SQLITE_AUTH }
    /// True if the file should be opened with a key, and the loaded library has no encryption.
    public var isEncryptionUnavailable: Bool { code == SQLITE_NOTFOUND }
    /// True if the file or the connection is read-only.
    public var isReadOnly: Bool { code == SQLITE_READONLY }
}

extension SQLiteError: CustomStringConvertible {
    /// Code, message, suggested remedy if there is one, and the SQL.
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

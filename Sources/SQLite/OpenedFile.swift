import CSQLite
import System

/// The handle of a file that SQLite has opened. The connection owns and closes it.
struct OpenedFile {
    let handle: OpaquePointer
    /// State of the files when they were opened without locks. Nil with locks.
    let filesAlone: DatabaseFiles?

    init(_ path: String, _ options: OpenOptions, _ mode: ReadingMode?) throws {
        // SQLite would open a temporary database for an empty path or a leading NUL.
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
        try Connection.checkEncryption(options)
        // Only the system's files have permissions to check.
        if options.readOnly, options.vfsName == nil {
            switch mode ?? ReadingMode(path: path) {
            case .shared: break
            case .refused(let missing): throw missing.error
            case .alone(let files):
                (name, filesAlone) = (Self.immutableURI(of: path), files)
                flags |= SQLITE_OPEN_URI
            }
        }
        var handle: OpaquePointer?
        let result = sqlite3_open_v2(name, &handle, flags, options.vfsName)
        guard result == SQLITE_OK, let handle else {
            let error = SQLiteError(result, database: handle)
            sqlite3_close_v2(handle)
            throw Self.explained(
                SQLiteError(extendedCode: error.extendedCode, message: "\(error.message): \(path)"), path,
                options)
        }
        (self.handle, self.filesAlone) = (handle, filesAlone)
    }

    /// Returns the name by which SQLite opens a file without locks and without a log.
    private static func immutableURI(of path: String) -> String {
        // Without the two slashes, a path that begins with two would name a host.
        let start = path.hasPrefix("/") ? "file://" : "file:"
        return start + PercentEncoding.encoded(path, keepsSlashes: true) + "?immutable=1"
    }

    /// Adds the missing permission to SQLite's error of opening or writing.
    static func explained(
        _ error: SQLiteError, _ path: String, _ options: OpenOptions
    ) -> SQLiteError {
        guard error.isCannotOpen || error.isReadOnly, options.vfsName == nil,
            !options.readOnly || DatabaseFiles(path: path) != nil,
            let missing = MissingPermission.forWriting(path)
        else { return error }
        return SQLiteError(
            extendedCode: error.extendedCode, message: "\(error.message): \(missing.text)", sql: error.sql)
    }
}

import SQLite
import System

/// The database's own tables, and the marks that identify the file format.
enum DatabaseSchema {
    /// "Yap1" in the file's header.
    static let applicationID: Int64 = 0x5961_7031
    /// Format that this code writes, in `PRAGMA user_version`.
    static let formatVersion: Int64 = 1

    static let tables = """
        CREATE TABLE database2 (
            rowid INTEGER PRIMARY KEY, collection TEXT NOT NULL, key TEXT NOT NULL, data BLOB, metadata BLOB);
        CREATE UNIQUE INDEX true_primary_key ON database2 (collection, key);
        CREATE TABLE yap2 (extension TEXT NOT NULL, key TEXT NOT NULL, data BLOB, PRIMARY KEY (extension, key))
            WITHOUT ROWID;
        """

    private enum Content { case empty, ours }

    /// Opens the file for writing. Creates the file, or its tables in an empty one. Doesn't change a file of another
    /// format.
    static func open(path: String, options: OpenOptions, firstMark: SnapshotMark) throws -> Connection {
        try Connection.checkEncryption(options)
        // SQLite would create it readable for everyone, and gives its log the file's mode. An error here
        // occurs again when SQLite opens the file, with a message.
        if options.create, options.vfsName == nil { _ = try? DurableFile.createEmpty(path) }
        let connection = try Connection(path: path, options: options) { _ = try content(of: $0) }
        if try content(of: connection) == .ours { return connection }
        try connection.transaction(.immediate) {
            // Another process may have created them first.
            if try content(of: connection) == .ours { return }
            try connection.execute(tables)
            try connection.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(formatVersion)")
            try ConfigTable(connection).setBytes(firstMark.bytes, extension: "", key: ConfigTable.snapshotKey)
        }
        return connection
    }

    /// Opens an existing file of this format for reading only.
    ///
    /// - Parameter encryptionKey: The key of an encrypted file.
    static func openReadOnly(path: String, encryptionKey: EncryptionKey? = nil) throws -> Connection {
        var options = OpenOptions()
        options.readOnly = true
        options.encryptionKey = encryptionKey
        let connection = try Connection(path: path, options: options)
        guard try content(of: connection) == .ours else {
            throw YapDatabaseError(.notAYapDatabase, "the file is empty: \(path)")
        }
        return connection
    }

    private static func content(of connection: Connection) throws -> Content {
        let application = try number("PRAGMA application_id", connection)
        let version = try number("PRAGMA user_version", connection)
        if try number("SELECT count(*) FROM sqlite_schema", connection) == 0, application == 0, version == 0 {
            return .empty
        }
        guard application == applicationID else {
            throw YapDatabaseError(
                .notAYapDatabase, "the file's application_id is \(application): \(connection.path)")
        }
        guard version <= formatVersion else {
            throw YapDatabaseError(
                .unsupportedFormat, "the file's format is \(version), the newest known \(formatVersion)")
        }
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('database2', 'true_primary_key', 'yap2')"
        guard version == formatVersion, try number(sql, connection) == 3 else {
            throw YapDatabaseError(.corrupt, "tables of the database are missing: \(connection.path)")
        }
        return .ours
    }

    private static func number(_ sql: String, _ connection: Connection) throws -> Int64 {
        try connection.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }
}

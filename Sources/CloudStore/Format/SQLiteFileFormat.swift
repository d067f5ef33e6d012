import SQLite

/// How a file with tables of the server is recognized.
protocol SQLiteFileFormat {
    /// Mark of the file in its header.
    static var applicationID: Int64 { get }
    /// Format version. It grows when the previous version of the program can't read the file.
    static var version: Int64 { get }
}

extension SQLiteFileFormat {
    /// Returns true if the tables exist, and false for a new file.
    ///
    /// - Throws: `CloudStoreError` for a file of another program or of a newer version of this one.
    static func isPrepared(_ connection: Connection, path: String) throws -> Bool {
        let applicationID = try value(of: "PRAGMA application_id", connection)
        let version = try value(of: "PRAGMA user_version", connection)
        let tables = try value(of: "SELECT count(*) FROM sqlite_schema", connection)
        if applicationID == 0 && version == 0 && tables == 0 { return false }
        guard applicationID == Self.applicationID else { throw CloudStoreError.foreignFile(path: path) }
        guard version <= Self.version else { throw CloudStoreError.newerFormat(path: path, version: version) }
        return true
    }

    static func value(of sql: String, _ connection: Connection) throws -> Int64 {
        try connection.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
    }
}

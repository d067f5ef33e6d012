import SQLite

/// The usage of users: records, files and zones. Owns `usage`.
struct UsageTable {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.usageOf { loaded.usage[key] = try usage(key) }
        if wanted.assets.countsPrivateUsers { loaded.assets.privateUsersCount = try privateUsersCount() }
    }

    private func usage(_ key: UsageKey) throws -> UsageRow? {
        let sql = """
            SELECT \(StoredSize.usageColumns) FROM usage WHERE scope = ?1 AND user = ?2
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key.scope.rawValue, key.user, at: 1)
            guard try statement.step() else { return nil }
            return UsageRow(key: key, size: StoredSize(usage: statement, at: 0))
        }
    }

    private func privateUsersCount() throws -> Int64 {
        try connection.withStatement("SELECT count(*) FROM usage WHERE scope = 2") { try $0.firstInt64() }
    }

    func write(_ row: UsageRow) throws {
        let sql = """
            INSERT OR REPLACE INTO usage
            (scope, user, records, recordBytes, assetBytes, tombstones, zones, indexBytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """
        try connection.run(sql) { statement in
            try statement.bind(row.key.scope.rawValue, row.key.user, row.size.records, at: 1)
            try statement.bind(row.size.recordBytes, row.size.assetBytes, row.size.tombstones, at: 4)
            try statement.bind(row.size.zones, row.size.indexBytes, at: 7)
        }
    }
}

extension StoredSize {
    /// Columns that `init(usage:at:)` reads.
    static let usageColumns = "records, recordBytes, assetBytes, indexBytes, tombstones, zones"

    /// Reads a size from a row of `usage`.
    init(usage statement: borrowing Statement, at column: Int32) {
        self.init(
            records: statement.int64(at: column), recordBytes: statement.int64(at: column + 1),
            assetBytes: statement.int64(at: column + 2), indexBytes: statement.int64(at: column + 3),
            tombstones: statement.int64(at: column + 4), zones: statement.int64(at: column + 5))
    }
}

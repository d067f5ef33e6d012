import SQLite

/// The files of records, users' usage, and secrets.
extension SQLiteStoreTransaction {
    func loadAssets(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.usageOf { loaded.usage[key] = try usage(key) }
        for key in wanted.clearedOf {
            loaded.cleared[key] = try clearedSize(of: key, zonesMax: wanted.clearedZonesMax)
        }
        for key in wanted.assets.sizesOf { loaded.assets.sizes[key] = try size(of: key) }
        for zone in wanted.assets.tombstoneBytesOf {
            loaded.assets.tombstoneBytes[zone] = try tombstoneBytes(in: zone)
        }
        for owned in wanted.assets.owned { loaded.assets.owned[owned] = try bytes(of: owned) }
        for digest in wanted.assets.digests where try isUsed(digest) {
            loaded.assets.usedDigests.insert(digest)
        }
        for name in wanted.assets.secrets { loaded.assets.secrets[name] = try secret(name) }
        if wanted.assets.countsPrivateUsers { loaded.assets.privateUsersCount = try privateUsersCount() }
    }

    /// Runs after the records were written, which drops the rows of those that went.
    func applyAssets(_ changes: StoreChanges) throws {
        for row in changes.assets { try write(row) }
        for row in changes.usage { try write(row) }
        for row in changes.secrets { try write(row) }
    }

    /// Drops the rows of a record that goes.
    ///
    /// - Returns: how many there were.
    @discardableResult
    func removeAssets(of key: RecordKey) throws -> Int {
        let sql = "DELETE FROM recordAssets WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4"
        try connection.withStatement(sql) { statement in
            try bindPlace(of: key.zone, to: statement)
            try statement.bind(key.recordName, at: 4)
            try statement.run()
        }
        return connection.changesCount
    }

    private func usage(_ key: UsageKey) throws -> UsageRow? {
        let sql = """
            SELECT \(StoredSize.usageColumns) FROM usage WHERE scope = ?1 AND user = ?2
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key.scope.rawValue, at: 1)
            try statement.bind(key.user, at: 2)
            guard try statement.step() else { return nil }
            return UsageRow(key: key, size: StoredSize(usage: statement, at: 0))
        }
    }

    private func size(of key: RecordKey) throws -> StoredSize? {
        // SQLite tells the length of a value without reading the pages that it lies on.
        let sql = """
            SELECT \(Self.fieldsLength), (SELECT total(bytes) FROM recordAssets
                WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4), indexBytes
            FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4 AND isDeleted = 0
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: key.zone, to: statement)
            try statement.bind(key.recordName, at: 4)
            guard try statement.step() else { return nil }
            return StoredSize(
                records: 1, recordBytes: statement.int64(at: 0), assetBytes: statement.int64(at: 1),
                indexBytes: statement.int64(at: 2))
        }
    }

    private func tombstoneBytes(in zone: ZoneKey) throws -> Int64 {
        let sql = """
            SELECT coalesce(sum(indexBytes), 0) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND isDeleted = 1
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: zone, to: statement)
            return try statement.step() ? statement.int64(at: 0) : 0
        }
    }

    private func bytes(of owned: OwnedAsset) throws -> Int64? {
        let sql = """
            SELECT bytes FROM recordAssets AS r WHERE digest = ?3 AND scope = ?1 AND owner = ?2
            AND \(Self.isNotCleared) LIMIT 1
            """
        return try connection.withStatement(sql) { statement in
            try bind(owned.database, to: statement)
            return try statement.binding(owned.digest, at: 3) {
                try statement.step() ? statement.int64(at: 0) : nil
            }
        }
    }

    private func isUsed(_ digest: [UInt8]) throws -> Bool {
        try connection.withStatement("SELECT 1 FROM recordAssets WHERE digest = ?1 LIMIT 1") { statement in
            try statement.binding(digest, at: 1) { try statement.step() }
        }
    }

    private func secret(_ name: String) throws -> [UInt8]? {
        try connection.withStatement("SELECT value FROM secrets WHERE name = ?1") { statement in
            try statement.bind(name, at: 1)
            return try statement.step() ? statement.bytes(at: 0) : nil
        }
    }

    private func privateUsersCount() throws -> Int64 {
        try connection.withStatement("SELECT count(*) FROM usage WHERE scope = 2") {
            try $0.step() ? $0.int64(at: 0) : 0
        }
    }

    private func write(_ row: RecordAssetsRow) throws {
        try removeAssets(of: row.key)
        let sql = """
            INSERT OR REPLACE INTO recordAssets (scope, owner, zone, name, bytes, digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        for use in row.uses {
            try connection.withStatement(sql) { statement in
                try bindPlace(of: row.key.zone, to: statement)
                try statement.bind(row.key.recordName, at: 4)
                try statement.bind(use.bytes, at: 5)
                try statement.binding(use.digest, at: 6) { try statement.run() }
            }
        }
    }

    private func write(_ row: UsageRow) throws {
        let sql = """
            INSERT OR REPLACE INTO usage
            (scope, user, records, recordBytes, assetBytes, tombstones, zones, indexBytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.key.scope.rawValue, at: 1)
            try statement.bind(row.key.user, at: 2)
            try statement.bind(row.size.records, at: 3)
            try statement.bind(row.size.recordBytes, at: 4)
            try statement.bind(row.size.assetBytes, at: 5)
            try statement.bind(row.size.tombstones, at: 6)
            try statement.bind(row.size.zones, at: 7)
            try statement.bind(row.size.indexBytes, at: 8)
            try statement.run()
        }
    }

    private func write(_ row: SecretRow) throws {
        let sql = "INSERT OR REPLACE INTO secrets (name, value) VALUES (?1, ?2)"
        try connection.withStatement(sql) { statement in
            try statement.bind(row.name, at: 1)
            try statement.binding(row.value, at: 2) { try statement.run() }
        }
    }
}

extension StoredSize {
    /// What `init(usage:at:)` reads.
    static let usageColumns = "records, recordBytes, assetBytes, indexBytes, tombstones, zones"

    /// Reads a size from a row of `usage`.
    init(usage statement: borrowing Statement, at column: Int32) {
        self.init(
            records: statement.int64(at: column), recordBytes: statement.int64(at: column + 1),
            assetBytes: statement.int64(at: column + 2), indexBytes: statement.int64(at: column + 3),
            tombstones: statement.int64(at: column + 4), zones: statement.int64(at: column + 5))
    }
}

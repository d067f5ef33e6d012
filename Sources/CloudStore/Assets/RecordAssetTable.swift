import SQLite

/// The files of records. Owns `recordAssets`.
struct RecordAssetTable {
    let connection: Connection
    let places: ZonePlaces

    /// Selects the size of the files of the record `?1`, `?2`, `?3`, `?4`.
    static let bytesOfRecord = """
        SELECT total(bytes) FROM recordAssets
        WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4
        """

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for owned in wanted.assets.owned { loaded.assets.owned[owned] = try bytes(of: owned) }
        for digest in wanted.assets.digests where try isUsed(digest) {
            loaded.assets.usedDigests.insert(digest)
        }
    }

    func write(_ row: RecordAssetsRow) throws {
        try removeAll(of: row.key)
        let sql = """
            INSERT OR REPLACE INTO recordAssets (scope, owner, zone, name, bytes, digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        for use in row.uses {
            try connection.withStatement(sql) { statement in
                try places.bind(row.key, to: statement)
                try statement.bind(use.bytes, at: 5)
                try statement.binding(use.digest, at: 6) { try statement.run() }
            }
        }
    }

    /// Removes the rows of a record.
    ///
    /// - Returns: The number of removed rows.
    @discardableResult
    func removeAll(of key: RecordKey) throws -> Int {
        let sql = "DELETE FROM recordAssets WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4"
        try connection.run(sql) { try places.bind(key, to: $0) }
        return connection.changesCount
    }

    func hasRows(at place: ZoneKey) throws -> Bool { try connection.hasRows(in: "recordAssets", at: place) }

    func removeAll(at place: ZoneKey) throws { try connection.removeRows(of: "recordAssets", at: place) }

    private func bytes(of owned: OwnedAsset) throws -> Int64? {
        let sql = """
            SELECT bytes FROM recordAssets AS r WHERE digest = ?3 AND scope = ?1 AND owner = ?2
            AND \(ZonePlaces.isNotCleared) LIMIT 1
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(owned.database)
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
}

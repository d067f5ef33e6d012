import SQLite

/// Databases and zones. Owns `databases` and `zones`.
struct ZoneTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.databases { loaded.databases[key] = try database(key) }
        for key in wanted.zones { loaded.zones[key] = try zone(key) }
    }

    func apply(_ changes: StoreChanges) throws {
        for row in changes.databases { try write(row) }
        for row in changes.zones { try write(row) }
        for key in changes.removedZones { try remove(key) }
    }

    func changed(
        in database: StoredDatabaseKey, after: Int64, deletedAfter: Int64, zonesMax: Int
    ) throws -> ChangesPage<ZoneRow> {
        let sql = """
            SELECT zone, \(Self.columns) FROM zones
            WHERE scope = ?1 AND owner = ?2 AND databaseCounter > ?3 AND (isDeleted = 0 OR databaseCounter > ?4)
            ORDER BY databaseCounter, zone LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(database)
            try statement.bind(after, deletedAfter, zonesMax + 1, at: 3)
            return try statement.page(rowsMax: zonesMax) {
                row(ZoneKey(database: database, zoneName: $0.text(at: 0)), from: $0, at: 1)
            }
        }
    }

    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        let sql = """
            SELECT scope, owner, zone, \(Self.columns) FROM zones
            WHERE (scope, owner, zone) > (?1, ?2, ?3) ORDER BY scope, owner, zone LIMIT ?4
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after: after)
            try statement.bind(zonesMax + 1, at: 4)
            return try statement.page(rowsMax: zonesMax) {
                row(try connection.zoneKey(from: $0, at: 0), from: $0, at: 3)
            }
        }
    }

    func outdated(_ query: OutdatedQuery) throws -> [ZoneRow] {
        let sql = """
            SELECT scope, owner, zone, \(Self.columns) FROM zones INDEXED BY zonesDeleted
            WHERE isDeleted = 1 AND deletedMilliseconds < ?1 ORDER BY deletedMilliseconds, scope, owner, zone LIMIT ?2
            """
        return try connection.rows(sql, before: query.zonesDeletedBefore, rowsMax: query.rowsMax) {
            row(try connection.zoneKey(from: $0, at: 0), from: $0, at: 3)
        }
    }

    /// Selects the first owner after `?2` in the scope `?1`.
    static let nextOwner = "SELECT min(owner) FROM zones WHERE scope = ?1 AND owner > ?2"

    /// Selects the number and the bytes of the rows of records in the zone `?1`, `?2`, `?3`.
    static let countedSize = """
        coalesce(sum(records + tombstones), 0), coalesce(sum(recordBytes + assetBytes + indexBytes), 0)
        FROM zones WHERE scope = ?1 AND owner = ?2 AND zone = ?3
        """

    private static let columns = """
        epoch, counter, tombstoneFloor, databaseCounter, isDeleted, identities, contents, isCounted, records, \
        recordBytes, assetBytes, deletedMilliseconds, tombstones, indexBytes
        """

    private func database(_ key: StoredDatabaseKey) throws -> DatabaseRow? {
        let sql =
            "SELECT epoch, counter, subscriptions, zoneFloor FROM databases WHERE scope = ?1 AND owner = ?2"
        return try connection.withStatement(sql) { statement in
            try statement.bind(key)
            guard try statement.step() else { return nil }
            var row = DatabaseRow(
                key: key, epoch: UInt64(bitPattern: statement.int64(at: 0)), counter: statement.int64(at: 1),
                subscriptionCount: statement.int64(at: 2))
            row.zoneFloor = statement.int64(at: 3)
            return row
        }
    }

    private func zone(_ key: ZoneKey) throws -> ZoneRow? {
        let sql = """
            SELECT \(Self.columns) FROM zones
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key)
            return try statement.step() ? row(key, from: statement, at: 0) : nil
        }
    }

    private func row(_ key: ZoneKey, from statement: borrowing Statement, at column: Int32) -> ZoneRow {
        var row = ZoneRow(
            key: key, epoch: UInt64(bitPattern: statement.int64(at: column)),
            counter: statement.int64(at: column + 1), tombstoneFloor: statement.int64(at: column + 2),
            databaseCounter: statement.int64(at: column + 3), isDeleted: statement.int64(at: column + 4) != 0)
        row.checksum = StoreChecksum(statement, at: column + 5)
        row.isCounted = statement.int64(at: column + 7) != 0
        row.size = StoredSize(
            records: statement.int64(at: column + 8), recordBytes: statement.int64(at: column + 9),
            assetBytes: statement.int64(at: column + 10), indexBytes: statement.int64(at: column + 13),
            tombstones: statement.int64(at: column + 12))
        row.deletedMilliseconds = statement.int64(at: column + 11)
        return row
    }

    private func write(_ row: DatabaseRow) throws {
        let sql = """
            INSERT OR REPLACE INTO databases (scope, owner, epoch, counter, subscriptions, zoneFloor)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try connection.run(sql) { statement in
            try statement.bind(row.key)
            try statement.bind(row.epoch, row.counter, row.subscriptionCount, row.zoneFloor, at: 3)
        }
    }

    private func write(_ row: ZoneRow) throws {
        let sql = """
            INSERT OR REPLACE INTO zones
            (scope, owner, zone, epoch, counter, tombstoneFloor, databaseCounter, isDeleted, identities, contents,
            isCounted, records, recordBytes, assetBytes, deletedMilliseconds, tombstones, indexBytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """
        try connection.run(sql) { statement in
            try statement.bind(row.key)
            try statement.bind(row.epoch, row.counter, row.tombstoneFloor, row.databaseCounter, at: 4)
            try statement.bind(row.isDeleted, at: 8)
            try statement.bind(row.checksum, at: 9)
            try statement.bind(row.isCounted, row.size.records, row.size.recordBytes, at: 11)
            try statement.bind(row.size.assetBytes, row.deletedMilliseconds, row.size.tombstones, at: 14)
            try statement.bind(row.size.indexBytes, at: 17)
        }
    }

    private func remove(_ key: ZoneKey) throws {
        try connection.removeRows(of: "zones", at: key)
    }
}

extension StoreChecksum {
    /// Reads a checksum from two columns.
    init(_ statement: borrowing Statement, at column: Int32) {
        self.init(
            identities: UInt64(bitPattern: statement.int64(at: column)),
            contents: UInt64(bitPattern: statement.int64(at: column + 1)))
    }
}

extension Statement {
    /// Binds a checksum to two parameters, or NULL.
    func bind(_ checksum: StoreChecksum?, at index: Int32) throws {
        try bind(checksum.map { Int64(bitPattern: $0.identities) }, at: index)
        try bind(checksum.map { Int64(bitPattern: $0.contents) }, at: index + 1)
    }
}

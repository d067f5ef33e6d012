import SQLite

extension SQLiteStoreTransaction {
    func zones(after: ZoneKey?, zonesMax: Int) throws -> ChangesPage<ZoneRow> {
        let sql = """
            SELECT scope, owner, zone, \(Self.zoneColumns) FROM zones
            WHERE (scope, owner, zone) > (?1, ?2, ?3) ORDER BY scope, owner, zone LIMIT ?4
            """
        return try connection.withStatement(sql) { statement in
            try bind(after: after, to: statement)
            try statement.bind(Int64(zonesMax) + 1, at: 4)
            var page = ChangesPage<ZoneRow>(rows: [], moreComing: false)
            while try statement.step() {
                guard page.rows.count < zonesMax else {
                    page.moreComing = true
                    break
                }
                page.rows.append(zoneRow(try zoneKey(from: statement, at: 0), from: statement, at: 3))
            }
            return page
        }
    }

    func records(
        in zone: ZoneKey, after: String?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<RecordRow> {
        // Nobody's name is empty, so that all names lie behind it.
        let sql = """
            SELECT name, \(Self.recordColumns) FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name > ?4 AND isDeleted = 0
            ORDER BY name LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: zone, to: statement)
            try statement.bind(after ?? "", at: 4)
            try statement.bind(Int64(recordsMax) + 1, at: 5)
            return try page(of: zone, from: statement, recordsMax: recordsMax, bytesMax: bytesMax)
        }
    }

    /// Binds the key that a page begins behind; nil begins before all: scopes begin with 1.
    func bind(after: ZoneKey?, to statement: borrowing Statement) throws {
        guard let after else {
            try statement.bind(Int64(0), at: 1)
            try statement.bind("", at: 2)
            try statement.bind("", at: 3)
            return
        }
        try bind(after, to: statement)
    }

    /// Reads the three columns of a zone's key.
    func zoneKey(from statement: borrowing Statement, at column: Int32) throws -> ZoneKey {
        guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: column)) else {
            throw CloudStoreError.damaged(path: path, reason: "unknown scope \(statement.int64(at: column))")
        }
        let database = DatabaseKey(scope: scope, owner: statement.text(at: column + 1))
        return ZoneKey(database: database, zoneName: statement.text(at: column + 2))
    }
}

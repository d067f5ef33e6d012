import SQLite

extension StoreFile {
    /// Returns the number of records of a zone that have changed since a change, including deleted ones.
    ///
    /// - Parameters:
    ///   - counter: The change up to which a device has synced.
    ///   - max: Counting stops here.
    /// - Throws: `CloudStoreError`.
    package func changesCount(in zone: ZoneKey, after counter: Int64, max: Int) throws -> Int {
        let sql = """
            SELECT count(*) FROM (SELECT 1 FROM records INDEXED BY recordChanges
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND counter > +?4 AND counter > 0 LIMIT ?5)
            """
        return try inspect { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(zone)
                try statement.bind(counter, max, at: 4)
                return try statement.step() ? Int(clamping: statement.int64(at: 0)) : 0
            }
        }
    }

    /// Returns the custom zones of a database without deleted zones.
    ///
    /// - Throws: `CloudStoreError`.
    package func zones(of database: StoredDatabaseKey, max: Int) throws -> [ZoneRow] {
        try read { try $0.changedZones(in: database, after: 0, deletedAfter: .max, zonesMax: max).rows }
    }

    /// Returns the number of pending pushes of a device.
    ///
    /// - Throws: `CloudStoreError`.
    package func pushesCount(of device: DeviceKey) throws -> Int {
        let sql = "SELECT count(*) FROM pushes WHERE user = ? AND device = ?"
        return try inspect { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(device.user, device.device, at: 1)
                return try statement.step() ? Int(clamping: statement.int64(at: 0)) : 0
            }
        }
    }

    /// Returns the users sorted by the size of their private databases as it counts against the quota, largest first.
    ///
    /// - Parameters:
    ///   - rowBytes: Bytes that a record, a tombstone and a zone count in addition to their own.
    ///   - after: Size and name of the last user of the previous page, or nil for the first page.
    ///   - usersMax: Maximum number of users.
    ///   - lookedAtMax: Maximum number of users that are compared. Further users are left out.
    /// - Throws: `CloudStoreError`.
    package func largestUsers(
        rowBytes: Int64, after: (bytes: Int64, user: String)?, usersMax: Int, lookedAtMax: Int
    ) throws -> [(row: UsageRow, bytes: Int64)] {
        let sql = """
            SELECT user, bytes, \(StoredSize.usageColumns) FROM (
                SELECT *, recordBytes + assetBytes + indexBytes + (records + tombstones + zones) * ?1 AS bytes
                FROM usage WHERE scope = 2 LIMIT ?2)
            WHERE ?3 OR bytes < ?4 OR (bytes = ?4 AND user > ?5) ORDER BY bytes DESC, user LIMIT ?6
            """
        return try inspect { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(rowBytes, lookedAtMax, after == nil ? 1 : 0, after?.bytes ?? 0, at: 1)
                try statement.bind(after?.user ?? "", usersMax, at: 5)
                return try statement.rows {
                    let key = UsageKey(scope: .privateDatabase, user: $0.text(at: 0))
                    return (UsageRow(key: key, size: StoredSize(usage: $0, at: 2)), $0.int64(at: 1))
                }
            }
        }
    }

    /// Returns the number of users with a private database. Each raises the quota of the public database.
    ///
    /// - Throws: `CloudStoreError`.
    package func privateUsersCount() throws -> Int64 {
        try inspect { connection in
            try connection.withStatement("SELECT count(*) FROM usage WHERE scope = 2") {
                try $0.step() ? $0.int64(at: 0) : 0
            }
        }
    }
}

import SQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The contents of a store's file in numbers.
package struct StoreStatistics: Hashable, Sendable {
    /// Number of records, without tombstones.
    package var records: Int64 = 0
    /// Bytes of the records' fields.
    package var recordBytes: Int64 = 0
    /// Bytes of the records' index entries.
    package var indexBytes: Int64 = 0
    /// Bytes of the files in records. A file in two records counts twice.
    package var assetBytes: Int64 = 0
    /// Number of different files in records.
    package var assets: Int64 = 0
    /// Number of users with data.
    package var users: Int64 = 0
    /// Number of custom zones.
    package var zones: Int64 = 0
    /// Number of subscriptions of all users.
    package var subscriptions: Int64 = 0
    /// Number of the operator's webhooks.
    package var webhooks: Int64 = 0
    /// Number of tombstones of deleted records.
    package var tombstones: Int64 = 0
    /// Number of rows of deleted zones.
    package var deletedZones: Int64 = 0
    /// Number of kept answers to writes.
    package var answers: Int64 = 0
    /// Bytes of the kept answers.
    package var answerBytes: Int64 = 0
    /// Bytes of the store's file and its log.
    package var fileBytes: Int64 = 0
    /// Number of users with a private database. Each raises the quota of the public database.
    package var privateUsers: Int64 = 0
    /// Usage of the public database.
    package var publicSize = StoredSize()
    /// Users with the largest private databases, largest first.
    package var largestUsers: [UsageRow] = []

    /// Makes the statistics of an empty store.
    package init() {}
}

extension StoreFile {
    /// Counts the contents of the file.
    ///
    /// - Parameter usersMax: Maximum number of the largest users in the result.
    /// - Throws: `CloudStoreError`.
    package func statistics(usersMax: Int) throws -> StoreStatistics {
        try inspect { connection in
            var found = StoreStatistics()
            func number(_ sql: String) throws -> Int64 {
                try connection.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
            }
            // The public database has a row for its total, without a user.
            let all = "FROM usage WHERE scope = 2 OR user = ''"
            found.records = try number("SELECT coalesce(sum(records), 0) \(all)")
            found.recordBytes = try number("SELECT coalesce(sum(recordBytes), 0) \(all)")
            found.indexBytes = try number("SELECT coalesce(sum(indexBytes), 0) \(all)")
            found.assetBytes = try number("SELECT coalesce(sum(assetBytes), 0) \(all)")
            found.assets = try number("SELECT count(DISTINCT digest) FROM recordAssets")
            found.users = try number(
                "SELECT count(DISTINCT user) FROM usage WHERE user <> '' AND records > 0")
            found.privateUsers = try number("SELECT count(*) FROM usage WHERE scope = 2")
            found.zones = try number("SELECT count(*) FROM zones WHERE isDeleted = 0")
            found.tombstones = try number("SELECT coalesce(sum(tombstones), 0) FROM usage")
            found.deletedZones = try number("SELECT count(*) FROM zones WHERE isDeleted = 1")
            found.subscriptions = try number("SELECT count(*) FROM subscriptions")
            found.webhooks = try number("SELECT count(*) FROM webhooks")
            found.answers = try number("SELECT coalesce(sum(rows), 0) FROM answerTotals")
            found.answerBytes = try number("SELECT coalesce(sum(bytes), 0) FROM answerTotals")
            for ending in ["", "-wal"] {
                var status = stat()
                if stat(path + ending, &status) == 0 { found.fileBytes += Int64(status.st_size) }
            }
            found.publicSize = try rows("scope = 1 AND user = ''", [], connection).first?.size ?? StoredSize()
            found.largestUsers = try rows(
                "scope = 2 AND records > 0 ORDER BY recordBytes + assetBytes + indexBytes DESC, user LIMIT ?",
                [Int64(usersMax)], connection)
            return found
        }
    }

    /// Returns the usage of the users that reach one of the limits in `least`, sorted by name.
    ///
    /// - Parameters:
    ///   - scope: Private databases, or the records that users created in the public database.
    ///   - rowBytes: Bytes that a record, a tombstone and a zone count in addition to their own.
    /// - Throws: `CloudStoreError`.
    package func usage(
        _ scope: StoredDatabaseKey.Scope, atLeast least: UsageLeast, rowBytes: Int64
    ) throws -> [UsageRow] {
        try inspect { connection in
            // In floating point, because a setting may be larger than any sum.
            try rows(
                """
                scope = ? AND user <> '' AND (
                    recordBytes + assetBytes + indexBytes + (records + tombstones + zones) * 1.0 * ? >= ?
                    OR records + tombstones >= ? OR zones >= ?)
                ORDER BY user
                """,
                [scope.rawValue, rowBytes, least.bytes, least.records, least.zones], connection)
        }
    }

    /// Returns the usage of a user. All zero for an unknown user.
    ///
    /// - Throws: `CloudStoreError`.
    package func usage(of key: UsageKey) throws -> StoredSize {
        var wanted = StoreLoad()
        wanted.usageOf = [key]
        return try read { try $0.load(wanted).usage[key]?.size } ?? StoredSize()
    }

    private func rows(
        _ condition: String, _ values: [Int64], _ connection: Connection
    ) throws -> [UsageRow] {
        let sql = """
            SELECT scope, user, \(StoredSize.usageColumns) FROM usage WHERE \(condition)
            """
        return try connection.withStatement(sql) { statement in
            for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index) + 1) }
            return try statement.rows {
                let isPrivate = $0.int64(at: 0) == 2
                return UsageRow(
                    key: UsageKey(
                        scope: isPrivate ? .privateDatabase : .publicDatabase,
                        user: $0.text(at: 1)),
                    size: StoredSize(usage: $0, at: 2))
            }
        }
    }
}

/// The usage from which a user is reported.
package struct UsageLeast: Hashable, Sendable {
    /// Bytes, as they count against a quota.
    package var bytes: Int64
    /// Number of records and tombstones.
    package var records: Int64
    /// Number of custom zones.
    package var zones: Int64

    /// Makes the limits.
    package init(bytes: Int64, records: Int64 = .max, zones: Int64 = .max) {
        (self.bytes, self.records, self.zones) = (bytes, records, zones)
    }
}

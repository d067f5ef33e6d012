import SQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How much a store's file holds.
public struct StoreStatistics: Hashable, Sendable {
    /// Records, without tombstones.
    public var records: Int64 = 0
    /// Bytes of the records' fields.
    public var recordBytes: Int64 = 0
    /// What the records' index entries count as.
    public var indexBytes: Int64 = 0
    /// Bytes of the files that records hold; one in two records counts twice.
    public var assetBytes: Int64 = 0
    /// Files that records hold, each once.
    public var assets: Int64 = 0
    /// Users who have data.
    public var users: Int64 = 0
    /// Custom zones.
    public var zones: Int64 = 0
    /// Subscriptions of all users.
    public var subscriptions: Int64 = 0
    /// The operator's webhooks.
    public var webhooks: Int64 = 0
    /// Tombstones of deleted records.
    public var tombstones: Int64 = 0
    /// Rows of deleted zones.
    public var deletedZones: Int64 = 0
    /// Answers to writes that are kept.
    public var answers: Int64 = 0
    /// Bytes of those.
    public var answerBytes: Int64 = 0
    /// Bytes of the store's file and its log.
    public var fileBytes: Int64 = 0
    /// Users who have a private database; each lets the public one grow.
    public var privateUsers: Int64 = 0
    /// What the public database has.
    public var publicSize = StoredSize()
    /// The users who have most in their private databases, the largest first.
    public var largestUsers: [UsageRow] = []

    /// Makes that of a store with nothing in it.
    public init() {}
}

extension StoreFile {
    /// Counts what the file holds.
    ///
    /// - Parameter usersMax: so many of the largest users are named.
    /// - Throws: `CloudStoreError`.
    public func statistics(usersMax: Int) throws -> StoreStatistics {
        try inspect { connection in
            var found = StoreStatistics()
            func number(_ sql: String) throws -> Int64 {
                try connection.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : 0 }
            }
            // The public database has a row for all of it, without a user.
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

    /// What users have, of those who have at least as much as `least` of one thing, by name.
    ///
    /// - Parameters:
    ///   - scope: their private databases, or what they made in the public one.
    ///   - rowBytes: what a record, a tombstone and a zone count beside their bytes.
    /// - Throws: `CloudStoreError`.
    public func usage(
        _ scope: StoredDatabaseKey.Scope, atLeast least: UsageLeast, rowBytes: Int64
    ) throws -> [UsageRow] {
        try inspect { connection in
            // In floating point, since a setting may be larger than any sum.
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

    /// What a user has; nothing when the store doesn't know the user.
    ///
    /// - Throws: `CloudStoreError`.
    public func usage(of key: UsageKey) throws -> StoredSize {
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

/// From how much on a user is told of.
public struct UsageLeast: Hashable, Sendable {
    /// Bytes, as they count against a quota.
    public var bytes: Int64
    /// Records and tombstones.
    public var records: Int64
    /// Custom zones.
    public var zones: Int64

    /// Makes it.
    public init(bytes: Int64, records: Int64 = .max, zones: Int64 = .max) {
        (self.bytes, self.records, self.zones) = (bytes, records, zones)
    }
}

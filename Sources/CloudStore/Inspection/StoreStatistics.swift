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
            found.assetBytes = try number("SELECT coalesce(sum(assetBytes), 0) \(all)")
            found.assets = try number("SELECT count(DISTINCT digest) FROM recordAssets")
            found.users = try number(
                "SELECT count(DISTINCT user) FROM usage WHERE user <> '' AND records > 0")
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
            let sql = """
                SELECT user, records, recordBytes, assetBytes FROM usage WHERE scope = 2 AND records > 0
                ORDER BY recordBytes + assetBytes DESC, user LIMIT ?
                """
            try connection.withStatement(sql) { statement in
                try statement.bind(Int64(usersMax), at: 1)
                while try statement.step() {
                    found.largestUsers.append(
                        UsageRow(
                            key: UsageKey(scope: .privateDatabase, user: statement.text(at: 0)),
                            size: StoredSize(
                                records: statement.int64(at: 1), recordBytes: statement.int64(at: 2),
                                assetBytes: statement.int64(at: 3))))
                }
            }
            return found
        }
    }
}

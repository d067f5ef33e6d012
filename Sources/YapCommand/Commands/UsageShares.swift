import CloudService
import CloudStore

/// Usage of the limits by a container's users. One quota applies to both environments together.
struct UsageShares {
    /// Usage of one limit by one user.
    struct Share {
        /// Record name of the user in the container.
        let user: String
        /// Setting of the limit.
        let limit: String
        let used: Int64
        let max: Int64

        var percent: Int { UsageShares.percent(used, of: max) }
    }

    /// Percentage from which a limit is reported as nearly reached.
    static let nearPercent: Int64 = 90

    let limits: AssetLimits
    /// Stores of the container's environments.
    let files: [StoreFile]

    /// Returns the users that have nearly reached a limit, by name.
    ///
    /// - Throws: `CloudStoreError`.
    func near() throws -> [Share] {
        let own = UsageLeast(
            bytes: least(limits.privateBytesMax), records: least(limits.privateRecordsMax),
            zones: least(Int64(limits.privateZonesMax)))
        let shared = UsageLeast(bytes: least(limits.publicBytesOfUserMax))
        let shares =
            try users(.privateDatabase, own).flatMap { try ofPrivate($0) }
            + users(.publicDatabase, shared).map { try ofPublic($0) }
        return shares.filter { Int64($0.percent) >= Self.nearPercent }.sorted {
            ($0.user, $0.limit) < ($1.user, $1.limit)
        }
    }

    /// Returns a user's usage of the limits on a private database, bytes first.
    ///
    /// - Throws: `CloudStoreError`.
    func ofPrivate(_ user: String) throws -> [Share] {
        let size = try size(UsageKey(scope: .privateDatabase, user: user))
        return [
            Share(
                user: user, limit: "limits.privateBytesMax", used: size.quotaBytes(rowBytes: limits.rowBytes),
                max: limits.privateBytesMax),
            Share(
                user: user, limit: "limits.privateRecordsMax", used: size.records + size.tombstones,
                max: limits.privateRecordsMax),
            Share(
                user: user, limit: "limits.privateZonesMax", used: size.zones,
                max: Int64(limits.privateZonesMax)),
        ]
    }

    /// Returns the usage of an environment's public database, and the limit, which depends on the number of users.
    func publicBytes(of found: StoreStatistics) -> (used: Int64, max: Int64) {
        (
            found.publicSize.quotaBytes(rowBytes: limits.rowBytes),
            limits.publicBytesMax(users: found.privateUsers)
        )
    }

    /// Returns whole percent, rounded down, so that only a reached limit has 100.
    static func percent(_ used: Int64, of max: Int64) -> Int {
        max > 0 ? Int((Double(used) / Double(max) * 100).rounded(.down)) : 100
    }

    private func ofPublic(_ user: String) throws -> Share {
        let size = try size(UsageKey(scope: .publicDatabase, user: user))
        return Share(
            user: user, limit: "limits.publicBytesOfUserMax",
            used: size.quotaBytes(rowBytes: limits.rowBytes),
            max: limits.publicBytesOfUserMax)
    }

    private func size(_ key: UsageKey) throws -> StoredSize {
        try files.reduce(into: StoredSize()) { $0 += try $1.usage(of: key) }
    }

    private func users(_ scope: StoredDatabaseKey.Scope, _ least: UsageLeast) throws -> [String] {
        let rows = try files.flatMap { try $0.usage(scope, atLeast: least, rowBytes: limits.rowBytes) }
        return Set(rows.map(\.key.user)).sorted()
    }

    /// Returns the minimum usage in one environment from which a limit over several environments can be
    /// nearly reached.
    private func least(_ max: Int64) -> Int64 {
        let near = Double(max) * Double(Self.nearPercent) / 100
        return Int64(near / Double(Swift.max(1, files.count)))
    }
}

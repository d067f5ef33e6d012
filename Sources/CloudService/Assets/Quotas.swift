import CloudStore
import CloudWire
import System

/// The last count of the container's users.
private struct CountedUsers {
    var count: Int64 = 0
    var untilMilliseconds = Int64.min
}

/// The quotas of an environment's databases. The count of users is kept in memory, and renewed each minute.
package final class Quotas: Sendable {
    private static let countedMilliseconds: Int64 = 60_000

    private let limits: ServiceLimits
    private let clock: any TimeSource
    private let elsewhere: UsageElsewhere?
    private let publicUsers = Lock(CountedUsers())
    private let orders = Lock<[String: Int64]>([:])

    init(limits: ServiceLimits, clock: any TimeSource, elsewhere: UsageElsewhere?) {
        (self.limits, self.clock, self.elsewhere) = (limits, clock, elsewhere)
    }

    /// Quotas in bytes that override the limits, by user record name. The empty name means the public
    /// database. For tests.
    package var ordered: [String: Int64] { orders.withLock { $0 } }

    /// Sets a user's quota in bytes, or removes the override if it is nil.
    package func order(_ bytes: Int64?, of owner: String) { orders.withLock { $0[owner] = bytes } }

    /// Copies the overrides of another service.
    package func order(_ all: [String: Int64]) { orders.withLock { $0 = all } }

    func ordered(of owner: String) -> Int64? { orders.withLock { $0[owner] } }

    /// Adds the users' usage in the other environment to the loaded usage.
    func addUsageElsewhere(of keys: [UsageKey], to loaded: inout StoreLoaded) {
        guard let elsewhere, !keys.isEmpty else { return }
        for (key, size) in elsewhere(keys) {
            loaded.usage[key, default: UsageRow(key: key)].size += size
        }
    }

    /// Returns the quota of the database that the caller writes to, before the write.
    func quota(of caller: ServiceCaller, in reader: any CloudStoreReader) throws -> Quota {
        let assets = limits.assets
        let isPublic = caller.scope == .public
        let key =
            isPublic
            ? UsageKey.publicDatabase
            : UsageKey(scope: .privateDatabase, user: caller.user?.userRecordName ?? "")
        let now = clock.nowMilliseconds()
        let known = publicUsers.withLock { $0 }
        let mustCount = isPublic && now >= known.untilMilliseconds
        var wanted = StoreLoad()
        let own = caller.user.map { UsageKey(scope: .publicDatabase, user: $0.userRecordName) }
        wanted.usageOf = [key] + (isPublic ? [own].compactMap(\.self) : [])
        wanted.clearedOf = [key]
        wanted.clearedZonesMax = limits.clearing.zonesMax
        wanted.assets.countsPrivateUsers = mustCount
        var loaded = try reader.load(wanted)
        // Each environment has its own total for the public database.
        addUsageElsewhere(of: isPublic ? [own].compactMap(\.self) : [key], to: &loaded)
        var users = known.count
        if mustCount {
            users = loaded.assets.privateUsersCount
            publicUsers.withLock {
                $0 = CountedUsers(count: users, untilMilliseconds: now + Self.countedMilliseconds)
            }
        }
        func used(_ key: UsageKey) -> Int64 {
            loaded.usage[key]?.size.quotaBytes(rowBytes: assets.rowBytes) ?? 0
        }
        let usualMax = isPublic ? assets.publicBytesMax(users: users) : assets.privateBytesMax
        var quota = Quota(
            bytesMax: ordered(of: key.user) ?? usualMax, bytesUsed: used(key), rowBytes: assets.rowBytes)
        if let cleared = loaded.cleared[key] {
            quota.bytesCleared = cleared.quotaBytes(rowBytes: assets.rowBytes)
            quota.isClearingFull = cleared.zones >= Int64(limits.clearing.zonesMax)
        }
        if isPublic, !caller.isServerKey, let own {
            quota.share = Quota.Share(
                user: own.user, bytesMax: assets.publicBytesOfUserMax, bytesUsed: used(own))
        } else if !isPublic {
            let there = loaded.usage[key].map { $0.size.records + $0.size.tombstones } ?? 0
            quota.recordsLeft = max(0, assets.privateRecordsMax - there)
        }
        return quota
    }
}

import CloudStore
import CloudWire
import Seams

/// How much may be in the database that a write goes to: a user's own, or the public one.
struct Quota: Sendable {
    let bytesMax: Int64
    let bytesUsed: Int64

    /// The operations that are refused because they grow what is there beyond the quota, of those that are not refused
    /// yet. What gets smaller, and what goes, is never refused, and makes room for the others. Pure.
    func refused(_ outcomes: [ModifyOutcome]) -> [Int] {
        let grown = outcomes.map(\.grownBytes)
        guard bytesUsed + grown.reduce(0, { $0 + max(0, $1) }) > bytesMax else { return [] }
        let freed = outcomes.reduce(0) { $0 + $1.freedBytes }
        var used = bytesUsed - freed + grown.reduce(0) { $0 + min(0, $1) }
        return grown.enumerated().filter { _, bytes in
            guard bytes > 0 else { return false }
            guard used + bytes <= bytesMax else { return true }
            used += bytes
            return false
        }.map(\.offset)
    }
}

extension ModifyOutcome {
    /// By how much a save changes what is there.
    fileprivate var grownBytes: Int64 {
        guard case .save(let draft) = self else { return 0 }
        return Int64(draft.fieldBytes.count - (draft.old?.fields.count ?? 0))
            + draft.assets.bytes - draft.oldAssets.bytes
    }

    /// What a deletion frees, without what goes along with it.
    fileprivate var freedBytes: Int64 {
        guard case .delete(let row) = self else { return 0 }
        return Int64(row.fields.count) + ((try? FieldsBinary.decode(row.fields))?.assetUses.bytes ?? 0)
    }
}

/// How many users let the public database grow, as it was counted last.
struct CountedUsers {
    var count: Int64 = 0
    var untilMilliseconds = Int64.min
}

extension CloudService {
    private static let countedMilliseconds: Int64 = 60_000

    /// The quota of the database that the caller writes to, as it stands before the write.
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
        wanted.usageOf = [key]
        wanted.assets.countsPrivateUsers = mustCount
        let loaded = try reader.load(wanted)
        var users = known.count
        if mustCount {
            users = loaded.assets.privateUsersCount
            publicUsers.withLock {
                $0 = CountedUsers(count: users, untilMilliseconds: now + Self.countedMilliseconds)
            }
        }
        let used = loaded.usage[key].map { $0.recordBytes + $0.assetBytes } ?? 0
        let (perUsers, overflows) = assets.publicBytesPerUser.multipliedReportingOverflow(by: users)
        let (publicMax, overflowsToo) = assets.publicBytesBase.addingReportingOverflow(perUsers)
        let ordered = quotas.withLock { $0[key.user] }
        let usualMax = !isPublic ? assets.privateBytesMax : overflows || overflowsToo ? .max : publicMax
        return Quota(bytesMax: ordered ?? usualMax, bytesUsed: used)
    }
}

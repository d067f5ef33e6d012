/// The pending writes, taken in groups.
///
/// Long writes have a queue of their own, and alternate with groups of the others. So a short write waits for
/// at most one long write. A short write of an owner may pass an earlier long one, since concurrent requests
/// have no order.
struct WriteQueue {
    /// Minimum requests in a group of several users. Fewer would need too many syncs.
    static let sharedRequestsMin = 8
    /// Size in bytes from which a write is long: about 50 records.
    static let longWriteBytes = 64 << 10

    private var short = FairQueue<WaitingWrite>()
    private var long = FairQueue<WaitingWrite>()
    private var isLongNext = false
    private var contention = Contention()

    /// True if another user has written recently, and may do so again. Then groups are short.
    var isContested: Bool { contention.isContested }

    mutating func append(_ write: WaitingWrite) {
        if write.isLong {
            long.append(write, of: write.owner, bytes: write.request.bytes)
        } else {
            short.append(write, of: write.owner, bytes: write.request.bytes)
        }
    }

    mutating func putBack(_ postponed: [WaitingWrite]) {
        short.putBack(postponed.filter { !$0.isLong }.map { ($0, $0.owner, $0.request.bytes) })
        long.putBack(postponed.filter(\.isLong).map { ($0, $0.owner, $0.request.bytes) })
    }

    /// The oldest writes of each owner in turn, up to the limits of a group. One long write if short ones are
    /// pending.
    mutating func take(
        within limits: GroupLimits, where mayWrite: (String) -> Bool = { _ in true }
    ) -> [WaitingWrite] {
        var group: [WaitingWrite] = []
        for takesLong in [isLongNext, !isLongNext] where group.isEmpty {
            group =
                takesLong
                ? Self.take(from: &long, within: limits, requestsMax: short.count > 0 ? 1 : .max, mayWrite)
                : Self.take(from: &short, within: limits, requestsMax: .max, mayWrite)
            if !group.isEmpty { isLongNext = !takesLong }
        }
        if let owner = group.first?.owner {
            let othersWait =
                group.contains { $0.owner != owner } || short.hasOthers(than: owner)
                || long.hasOthers(than: owner)
            contention.notice(owner, othersWait: othersWait)
        }
        return group
    }

    /// With several users, each adds as many writes as the user with the fewest: a single write waits for the disk, not
    /// for another user's queue.
    private static func take(
        from writes: inout FairQueue<WaitingWrite>, within limits: GroupLimits, requestsMax: Int,
        _ mayWrite: (String) -> Bool
    ) -> [WaitingWrite] {
        var group: [WaitingWrite] = []
        var bytes = 0
        let ownersCount = writes.ownersCount
        var left = 0
        while group.count < min(limits.requestsMax, requestsMax), bytes < limits.bytesMax {
            if left == 0 {
                let someoneIsDone = writes.ownersCount < ownersCount
                if someoneIsDone && ownersCount > 1 && group.count >= sharedRequestsMin { break }
                left = writes.ownersCount
            }
            guard let write = writes.popFirst(where: mayWrite) else { break }
            left -= 1
            bytes += write.request.bytes
            group.append(write)
        }
        return group
    }
}

extension WaitingWrite {
    fileprivate var isLong: Bool { request.bytes >= WriteQueue.longWriteBytes }
}

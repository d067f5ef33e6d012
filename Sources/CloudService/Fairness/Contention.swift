/// Remembers for a while that more than one owner has had turns, because others may return.
struct Contention {
    /// Consecutive turns of one owner after which there is no contention.
    static let loneTurnsMax = 500

    private var loneTurnsCount = loneTurnsMax
    private var lastOwner: String?

    var isContested: Bool { loneTurnsCount < Self.loneTurnsMax }

    /// Counts a turn of `owner`, while others wait or not.
    mutating func notice(_ owner: String, othersWait: Bool) {
        let isLone = !othersWait && (lastOwner == nil || owner == lastOwner)
        loneTurnsCount = isLone ? min(loneTurnsCount + 1, Self.loneTurnsMax) : 0
        lastOwner = owner
    }
}

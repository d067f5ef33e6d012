/// Numbers of deletion records that a step of the upkeep discarded, and of those that were discarded earlier
/// to free space.
public struct PrunedCounts: Hashable, Sendable {
    /// Tombstones of records.
    public var tombstones = 0
    /// Rows of deleted zones.
    public var zones = 0
    /// Kept answers of users beyond the maximum.
    public var answers = 0

    /// Makes zero counts.
    public init() {}

    init(tombstones: Int, zones: Int) {
        self.tombstones = tombstones
        self.zones = zones
    }

    /// Adds the counts of another step.
    package static func += (counts: inout PrunedCounts, more: PrunedCounts) {
        counts.tombstones += more.tombstones
        counts.zones += more.zones
        counts.answers += more.answers
    }
}

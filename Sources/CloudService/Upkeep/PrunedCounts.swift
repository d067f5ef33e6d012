/// What a step of the upkeep has discarded of what says that something was deleted, and what was discarded before it to
/// make room.
public struct PrunedCounts: Hashable, Sendable {
    /// Tombstones of records.
    public var tombstones = 0
    /// Rows of deleted zones.
    public var zones = 0
    /// Kept answers of users beyond the maximum.
    public var answers = 0

    /// Counts nothing yet.
    public init() {}

    init(tombstones: Int, zones: Int) {
        self.tombstones = tombstones
        self.zones = zones
    }

    /// Adds what another step has discarded.
    package static func += (counts: inout PrunedCounts, more: PrunedCounts) {
        counts.tombstones += more.tombstones
        counts.zones += more.zones
        counts.answers += more.answers
    }
}

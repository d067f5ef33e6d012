/// What a decision wants written: whole rows, applied in the order of the properties below.
public struct StoreChanges: Sendable {
    /// Feed rows to write.
    public var databases: [DatabaseRow] = []
    /// Zone rows to write.
    public var zones: [ZoneRow] = []
    /// Zones whose records and references go without a trace.
    public var clearedZones: [ZoneKey] = []
    /// Zones whose tombstones at or below a counter go. The caller writes the floor into the zone's row.
    public var prunedTombstones: [PrunedTombstones] = []
    /// Binding references that are no more.
    public var removedReferences: [ReferenceRow] = []
    /// Binding references that are new.
    public var addedReferences: [ReferenceRow] = []
    /// Records that go without a trace (in a zone without a feed).
    public var removedRecords: [RecordKey] = []
    /// Record rows and tombstones to write.
    public var records: [RecordRow] = []

    /// Makes changes that change nothing.
    public init() {}

    /// True when there is nothing to write.
    public var isEmpty: Bool {
        databases.isEmpty && zones.isEmpty && clearedZones.isEmpty && prunedTombstones.isEmpty
            && removedReferences.isEmpty && addedReferences.isEmpty && removedRecords.isEmpty
            && records.isEmpty
    }
}

/// Tombstones of one zone, up to a counter.
public struct PrunedTombstones: Hashable, Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// The highest counter that goes.
    public let through: Int64

    /// Names the tombstones of `zone` up to and with the counter `through`.
    public init(zone: ZoneKey, through: Int64) {
        self.zone = zone
        self.through = through
    }
}

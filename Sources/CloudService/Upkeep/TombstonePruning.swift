import CloudStore
import Seams

/// What a step of the upkeep has discarded of what says that something was deleted, and what was discarded before it to
/// make room.
public struct PrunedCounts: Hashable, Sendable {
    /// Tombstones of records.
    public var tombstones = 0
    /// Rows of deleted zones.
    public var zones = 0
    /// Kept answers of users who had too many.
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

extension CloudService {
    /// Lets `listener` know what the upkeep has pruned, when that is on disk. It is called on the thread that wrote it,
    /// and must not wait.
    public func setPruneListener(_ listener: (@Sendable (PrunedCounts) -> Void)?) {
        // The one before is released after the lock: it holds what listened.
        _ = pruneListener.withLock { current in
            defer { current = listener }
            return current
        }
    }

    func tellTrimmedAnswers() {
        var counts = PrunedCounts()
        counts.answers = trimmedAnswers.withLock { count in
            defer { count = 0 }
            return count
        }
        if counts.answers > 0 { pruneListener.withLock { $0 }?(counts) }
    }

    /// Discards tombstones and rows of deleted zones, and raises the floors below which tokens are expired.
    func prune(
        _ rows: OutdatedRows, into changes: inout StoreChanges, nowMilliseconds: Int64,
        _ reader: any CloudStoreReader
    ) throws -> PrunedCounts {
        var wanted = StoreLoad()
        wanted.zones = Set(rows.tombstones.map(\.key.zone)).sorted()
        wanted.databases = Set(rows.zones.map(\.key.database)).sorted()
        let loaded = try reader.load(wanted)
        var zones = loaded.zones
        var usage = UsageDeltas()
        for row in rows.tombstones {
            usage.removeTombstone(row)
            changes.removedRecords.append(row.key)
            let floor = zones[row.key.zone]?.tombstoneFloor ?? 0
            zones[row.key.zone]?.tombstoneFloor = max(floor, row.counter)
        }
        changes.zones += wanted.zones.compactMap { zones[$0] }
        var databases = loaded.databases
        for var zone in rows.zones {
            guard zone.deletedMilliseconds > 0 else {
                // An earlier version deleted it, and didn't say when.
                zone.deletedMilliseconds = nowMilliseconds
                changes.zones.append(zone)
                continue
            }
            changes.removedZones.append(zone.key)
            usage.countRow(of: zone.key, -1)
            let floor = databases[zone.key.database]?.zoneFloor ?? 0
            databases[zone.key.database]?.zoneFloor = max(floor, zone.databaseCounter)
        }
        changes.databases += wanted.databases.compactMap { databases[$0] }
        try usage.count(into: &changes, reader)
        return PrunedCounts(tombstones: rows.tombstones.count, zones: changes.removedZones.count)
    }
}

import CloudStore
import System

/// Discards expired data. The time of the next check is kept in memory; at the start, it is due at once.
final class Pruning: Sendable {
    /// Maximum rows of each kind that one step discards.
    private static let outdatedRowsMax = 500

    /// Milliseconds between two checks for expired data.
    private static let pruningMilliseconds: Int64 = 60_000

    private let store: any CloudStore
    private let clock: any TimeSource
    private let limits: ServiceLimits
    private let notifications: NotificationPruning
    private let webhooks: Webhooks
    private let indexes: IndexBuilding
    private let nextMilliseconds = Lock(Int64.min)
    private let listener = Lock<(@Sendable (PrunedCounts) -> Void)?>(nil)

    init(
        store: any CloudStore, clock: any TimeSource, limits: ServiceLimits,
        notifications: NotificationPruning, webhooks: Webhooks, indexes: IndexBuilding
    ) {
        (self.store, self.clock, self.limits, self.notifications) = (store, clock, limits, notifications)
        (self.webhooks, self.indexes) = (webhooks, indexes)
    }

    func setListener(_ listener: (@Sendable (PrunedCounts) -> Void)?) {
        // The previous one is released after the lock, since its closure may retain the observer.
        _ = self.listener.withLock { current in
            defer { current = listener }
            return current
        }
    }

    /// Notifies the listener of kept answers that were discarded early.
    func tell(trimmedAnswers count: Int) {
        var counts = PrunedCounts()
        counts.answers = count
        if count > 0 { listener.withLock { $0 }?(counts) }
    }

    /// True if the next check is due.
    var isDue: Bool { clock.nowMilliseconds() >= nextMilliseconds.withLock { $0 } }

    /// Discards expired data. If none is left, it schedules the next check.
    func pruneInTurn() throws {
        guard try !pruneOutdated() else { return }
        // Another process may have changed the schema.
        indexes.note()
        nextMilliseconds.withLock { $0 = clock.nowMilliseconds() + Self.pruningMilliseconds }
    }

    /// Does one bounded step. Returns true if there may be more.
    func pruneOutdated() throws -> Bool {
        let now = clock.nowMilliseconds()
        var query = OutdatedQuery(rowsMax: Self.outdatedRowsMax)
        query.answersBefore = now - limits.answerMilliseconds
        query.pushesBefore = now - limits.pushMilliseconds
        query.devicesSeenBefore = now - limits.deviceMilliseconds
        query.tombstonesBefore = now - limits.tombstoneMilliseconds
        query.zonesDeletedBefore = query.tombstonesBefore
        let asked = query
        // Usually there is nothing to discard. A read finds that out without the writer.
        let isEmpty = { (reader: any CloudStoreReader) throws -> Bool in
            try reader.outdated(asked) == OutdatedRows() && !self.notifications.areOutdated(reader)
                && !self.webhooks.deliveriesAreOutdated(reader)
        }
        guard try !store.read(isEmpty) else { return false }
        defer { webhooks.announce() }
        let (more, pruned) = try store.write { writer in
            let rows = try writer.outdated(asked)
            var changes = StoreChanges()
            changes.removedPushes = rows.pushes
            changes.removedDevices = rows.devices
            changes.removedAnswers = rows.answers
            let pruned = try self.prune(rows, into: &changes, nowMilliseconds: now, writer)
            try writer.apply(changes)
            let notifications = try self.notifications.prune(rowsMax: Self.outdatedRowsMax, writer)
            let deliveries = try self.webhooks.abandonDeliveries(writer)
            let counts = [
                rows.pushes.count, rows.devices.count, rows.answers.count, rows.tombstones.count,
                rows.zones.count,
                notifications, deliveries,
            ]
            return (counts.contains(Self.outdatedRowsMax), pruned)
        }
        if pruned != PrunedCounts() { listener.withLock { $0 }?(pruned) }
        return more
    }

    /// Discards tombstones and rows of deleted zones, and raises the floors below which tokens are expired.
    private func prune(
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
                // An earlier version deleted it without storing the time.
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

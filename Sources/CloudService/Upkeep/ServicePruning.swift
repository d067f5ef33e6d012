import CloudStore
import Seams

extension CloudService {
    /// Rows of each kind that one step discards.
    private static let outdatedRowsMax = 500

    /// Milliseconds between two looks for what can be discarded.
    private static let pruningMilliseconds: Int64 = 60_000

    /// Whether it is time to look for what can be discarded.
    var isPruningDue: Bool {
        clock.nowMilliseconds() >= nextPruningMilliseconds.withLock { $0 }
    }

    /// Discards what has outlived its use. When nothing is left, it sets when to look again.
    func pruneInTurn() throws {
        guard try !pruneOutdated() else { return }
        // Another process may have changed the schema.
        indexWorkMayWait.withLock { $0 = true }
        nextPruningMilliseconds.withLock { $0 = clock.nowMilliseconds() + Self.pruningMilliseconds }
    }

    /// Discards what has outlived its use: kept answers, pushes that nobody took, devices that were not heard of, and
    /// what says that records and zones were deleted. One bounded step; true when there may be more.
    ///
    /// `CloudServiceThread` does it by itself.
    ///
    /// - Throws: `CloudStoreError`; then nothing was discarded.
    @discardableResult public func pruneOutdated() throws -> Bool {
        let now = clock.nowMilliseconds()
        var query = OutdatedQuery(rowsMax: Self.outdatedRowsMax)
        query.answersBefore = now - limits.answerMilliseconds
        query.pushesBefore = now - limits.pushMilliseconds
        query.devicesSeenBefore = now - limits.deviceMilliseconds
        query.tombstonesBefore = now - limits.tombstoneMilliseconds
        query.zonesDeletedBefore = query.tombstonesBefore
        let asked = query
        // Most of the time there is nothing: a read finds that out without the writer.
        let isEmpty = { (reader: any CloudStoreReader) throws -> Bool in
            try reader.outdated(asked) == OutdatedRows() && !self.notificationsAreOutdated(reader)
                && !self.webhookDeliveriesAreOutdated(reader)
        }
        guard try !store.read(isEmpty) else { return false }
        defer { announce([]) }
        let (more, pruned) = try store.write { writer in
            let rows = try writer.outdated(asked)
            var changes = StoreChanges()
            changes.removedPushes = rows.pushes
            changes.removedDevices = rows.devices
            changes.removedAnswers = rows.answers
            let pruned = try self.prune(rows, into: &changes, nowMilliseconds: now, writer)
            try writer.apply(changes)
            let notifications = try self.pruneNotifications(rowsMax: Self.outdatedRowsMax, writer)
            let deliveries = try self.abandonWebhookDeliveries(writer)
            let counts = [
                rows.pushes.count, rows.devices.count, rows.answers.count, rows.tombstones.count,
                rows.zones.count,
                notifications, deliveries,
            ]
            return (counts.contains(Self.outdatedRowsMax), pruned)
        }
        if pruned != PrunedCounts() { pruneListener.withLock { $0 }?(pruned) }
        return more
    }
}

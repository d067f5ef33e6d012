import CloudStore
import Seams

extension CloudService {
    /// Rows of each kind that one step discards.
    private static let outdatedRowsMax = 500

    /// Milliseconds between two looks for what can be discarded.
    private static let pruningMilliseconds: Int64 = 60_000

    /// True when `keepUp` may find something to do.
    var wantsUpkeep: Bool {
        pushTasksMayWait || isPruningDue || isCollectionDue || indexWorkMayWait.withLock { $0 }
            || zoneCounting.withLock { $0.mayWait }
    }

    private var isPruningDue: Bool {
        clock.nowMilliseconds() >= nextPruningMilliseconds.withLock { $0 }
    }

    /// One bounded step of what nobody waits for: pushes first. True when there may be more.
    func keepUp() throws -> Bool {
        try preparePushes()
        _ = try buildIndexes()
        _ = try countZones()
        if isPruningDue, try !pruneOutdated() {
            // Another process may have changed the schema.
            indexWorkMayWait.withLock { $0 = true }
            nextPruningMilliseconds.withLock { $0 = clock.nowMilliseconds() + Self.pruningMilliseconds }
        }
        if isCollectionDue { collectFilesNow() }
        return wantsUpkeep
    }

    /// Discards what has outlived its use: kept answers, pushes that nobody took, and devices that were not heard
    /// of. One bounded step; true when there may be more.
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
        let asked = query
        // Most of the time there is nothing: a read finds that out without the writer.
        let isEmpty = { (reader: any CloudStoreReader) throws -> Bool in
            try reader.outdated(asked) == OutdatedRows() && !self.notificationsAreOutdated(reader)
                && !self.webhookDeliveriesAreOutdated(reader)
        }
        guard try !store.read(isEmpty) else { return false }
        defer { announce([]) }
        return try store.write { writer in
            let rows = try writer.outdated(asked)
            var changes = StoreChanges()
            changes.removedPushes = rows.pushes
            changes.removedDevices = rows.devices
            changes.removedAnswers = rows.answers
            try writer.apply(changes)
            let notifications = try self.pruneNotifications(rowsMax: Self.outdatedRowsMax, writer)
            let deliveries = try self.abandonWebhookDeliveries(writer)
            return [rows.pushes.count, rows.devices.count, rows.answers.count, notifications, deliveries]
                .contains(Self.outdatedRowsMax)
        }
    }
}

extension MemoryTransaction {
    func loadPushes(_ wanted: StoreLoad, into loaded: inout StoreLoaded) {
        for key in wanted.subscriptionsIn {
            loaded.subscriptions[key] = tables.subscriptions.values.filter { $0.key.database == key }
                .sorted { $0.key < $1.key }
        }
        for user in wanted.devicesOf {
            loaded.devices[user] = tables.devices.values.filter { $0.key.user == user }
                .sorted { $0.key < $1.key }
        }
        for token in wanted.deviceTokens {
            loaded.tokenDevices[token] = tables.devices.values.first { $0.token == token }
        }
        for zone in wanted.pushTasks { loaded.pushTasks[zone] = tables.pushTasks[zone] }
        for device in wanted.pushesOf {
            loaded.pushes[device] = tables.pushes.values.filter { $0.key.device == device }
                .sorted { ($0.atMilliseconds, $0.key) < ($1.atMilliseconds, $1.key) }
        }
        load(wanted.notifications, into: &loaded.notifications)
    }

    func applyPushes(_ changes: StoreChanges) {
        for key in changes.removedSubscriptions { tables.subscriptions[key] = nil }
        for row in changes.subscriptions { tables.subscriptions[row.key] = row }
        for key in changes.removedDevices {
            tables.devices[key] = nil
            tables.pushes = tables.pushes.filter { $0.key.device != key }
        }
        for row in changes.devices { tables.devices[row.key] = row }
        for key in changes.removedPushes { tables.pushes[key] = nil }
        for row in changes.pushes { tables.pushes[row.key] = row }
        for zone in changes.removedPushTasks { tables.pushTasks[zone] = nil }
        for row in changes.pushTasks { tables.pushTasks[row.zone] = row }
        apply(changes.notifications)
    }

    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        let behind = tables.pushTasks.values
            .filter { task in after.map { $0 < task.zone } ?? true }
            .sorted { $0.zone < $1.zone }
        return ChangesPage(rows: Array(behind.prefix(tasksMax)), moreComing: behind.count > tasksMax)
    }

    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows {
        var rows = OutdatedRows()
        rows.answers = tables.answers.values.filter { $0.atMilliseconds < query.answersBefore }
            .sorted { ($0.atMilliseconds, $0.key) < ($1.atMilliseconds, $1.key) }
            .prefix(query.rowsMax).map(\.key)
        rows.pushes = tables.pushes.values.filter { $0.atMilliseconds < query.pushesBefore }
            .sorted { ($0.atMilliseconds, $0.key) < ($1.atMilliseconds, $1.key) }
            .prefix(query.rowsMax).map(\.key)
        rows.devices = tables.devices.values.filter { $0.seenMilliseconds < query.devicesSeenBefore }
            .sorted { ($0.seenMilliseconds, $0.key) < ($1.seenMilliseconds, $1.key) }
            .prefix(query.rowsMax).map(\.key)
        rows.tombstones = Array(
            tables.records.values.flatMap(\.values)
                .filter { $0.isDeleted && $0.modified.timestampMilliseconds < query.tombstonesBefore }
                .sorted {
                    ($0.modified.timestampMilliseconds, $0.key) < ($1.modified.timestampMilliseconds, $1.key)
                }
                .prefix(query.rowsMax))
        rows.zones = Array(
            tables.zones.values.filter { $0.isDeleted && $0.deletedMilliseconds < query.zonesDeletedBefore }
                .sorted { ($0.deletedMilliseconds, $0.key) < ($1.deletedMilliseconds, $1.key) }
                .prefix(query.rowsMax))
        return rows
    }
}

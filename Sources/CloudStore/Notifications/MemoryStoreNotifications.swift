/// The notifications of a store in memory.
struct MemoryNotificationTables {
    var watches: [WatchKey: WatchRow] = [:]
    var firedChanges: [Int64: FiredChangeRow] = [:]
    var notifications: [NotificationKey: NotificationRow] = [:]
    var names: [NotificationName: NotificationKey] = [:]
    var feeds: [String: NotificationFeedRow] = [:]
    var webhooks: [String: WebhookRow] = [:]
    var deliveries: [Int64: WebhookDeliveryRow] = [:]
    var lastDelivery: Int64 = 0
}

extension MemoryTransaction: NotificationStoreReader {
    var notificationReader: any NotificationStoreReader { self }

    func load(_ wanted: NotificationLoad, into loaded: inout NotificationsLoaded) {
        let rows = tables.notifications
        for key in wanted.watches { loaded.watches[key] = rows.watches[key] }
        for key in wanted.watchersOf {
            loaded.watchers[key] = tables.subscriptions.values
                .filter { $0.key.database == key.database && $0.recordType == key.recordType }
                .sorted { $0.number < $1.number }
        }
        for key in wanted.subscriptionsOf {
            loaded.subscriptions[key] = tables.subscriptions.values
                .filter { $0.key.database == key.database && $0.key.user == key.user }
                .sorted { $0.key < $1.key }
        }
        for user in wanted.feedsOf { loaded.feeds[user] = rows.feeds[user] }
        for name in wanted.notifications {
            loaded.notifications[name] = rows.names[name].flatMap { rows.notifications[$0] }
        }
        for key in wanted.unreadOf {
            loaded.unread[key] = rows.notifications.values.first {
                $0.subscription == key && $0.kind == .feed && !$0.isRead
            }
        }
    }

    func apply(_ changes: NotificationChanges) {
        for row in changes.watches { tables.notifications.watches[row.key] = row }
        for number in changes.removedFiredChanges { tables.notifications.firedChanges[number] = nil }
        for var row in changes.firedChanges {
            if row.number == 0 { row.number = (tables.notifications.firedChanges.keys.max() ?? 0) + 1 }
            tables.notifications.firedChanges[row.number] = row
        }
        for key in changes.removedNotifications {
            guard let row = tables.notifications.notifications.removeValue(forKey: key) else { continue }
            tables.notifications.names[row.name] = nil
        }
        for row in changes.notifications {
            tables.notifications.notifications[row.key] = row
            tables.notifications.names[row.name] = row.key
        }
        for row in changes.feeds { tables.notifications.feeds[row.user] = row }
        applyWebhooks(changes)
    }

    private func applyWebhooks(_ changes: NotificationChanges) {
        for name in changes.removedWebhooks {
            tables.notifications.webhooks[name] = nil
            tables.notifications.deliveries = tables.notifications.deliveries.filter {
                $0.value.webhook != name
            }
        }
        for row in changes.webhooks { tables.notifications.webhooks[row.name] = row }
        for number in changes.removedDeliveries { tables.notifications.deliveries[number] = nil }
        for var row in changes.deliveries {
            if row.number == 0 {
                tables.notifications.lastDelivery += 1
                row.number = tables.notifications.lastDelivery
            }
            tables.notifications.deliveries[row.number] = row
        }
    }

    func firedChanges(changesMax: Int) -> ChangesPage<FiredChangeRow> {
        let rows = tables.notifications.firedChanges.values.sorted { $0.number < $1.number }
        return ChangesPage(rows: Array(rows.prefix(changesMax)), moreComing: rows.count > changesMax)
    }

    func firedChangesCount() -> Int64 { Int64(tables.notifications.firedChanges.count) }

    func notifications(
        of user: String, after: Int64, notificationsMax: Int
    ) -> ChangesPage<NotificationRow> {
        let rows = tables.notifications.notifications.values
            .filter { $0.key.user == user && $0.key.number > after }
            .sorted { $0.key < $1.key }
        return ChangesPage(
            rows: Array(rows.prefix(notificationsMax)), moreComing: rows.count > notificationsMax)
    }

    func notifications(before milliseconds: Int64, notificationsMax: Int) -> [NotificationRow] {
        tables.notifications.notifications.values.filter { $0.atMilliseconds < milliseconds }
            .sorted { ($0.atMilliseconds, $0.key) < ($1.atMilliseconds, $1.key) }
            .prefix(notificationsMax).map { $0 }
    }

    func webhooks() -> [WebhookRow] { tables.notifications.webhooks.values.sorted { $0.name < $1.name } }

    func dueDeliveries(of webhook: String, atMilliseconds: Int64, deliveriesMax: Int) -> [WebhookDeliveryRow]
    {
        tables.notifications.deliveries.values
            .filter { $0.webhook == webhook && $0.dueMilliseconds <= atMilliseconds }
            .sorted { ($0.dueMilliseconds, $0.number) < ($1.dueMilliseconds, $1.number) }
            .prefix(deliveriesMax).map { $0 }
    }

    func deliveries(madeBefore milliseconds: Int64, deliveriesMax: Int) -> [WebhookDeliveryRow] {
        tables.notifications.deliveries.values.sorted { $0.number < $1.number }.prefix(deliveriesMax)
            .prefix { $0.madeMilliseconds < milliseconds }.map { $0 }
    }

    func deliveries(numbers: [Int64]) -> [WebhookDeliveryRow] {
        numbers.compactMap { tables.notifications.deliveries[$0] }
    }

    func nextDeliveryMilliseconds(of webhook: String) -> Int64? {
        tables.notifications.deliveries.values.filter { $0.webhook == webhook }.map(\.dueMilliseconds).min()
    }
}

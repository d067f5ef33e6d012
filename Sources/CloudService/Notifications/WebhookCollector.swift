import CloudStore

/// Adds notifications to the queues of matching webhooks. Pure.
struct WebhookCollector {
    private var webhooks: [WebhookRow]
    private let limits: ServiceLimits
    private let nowMilliseconds: Int64
    private var changed = Set<Int>()
    private var deliveries: [WebhookDeliveryRow] = []

    init(_ webhooks: [WebhookRow], limits: ServiceLimits, nowMilliseconds: Int64) {
        self.webhooks = webhooks
        self.limits = limits
        self.nowMilliseconds = nowMilliseconds
    }

    mutating func add(_ row: NotificationRow, recordType: String?) {
        for place in webhooks.indices {
            let webhook = webhooks[place]
            guard webhook.scope == nil || webhook.scope == row.subscription.database.scope,
                webhook.recordType == nil || webhook.recordType == recordType
            else { continue }
            add(row.notificationID, row.content, to: place)
        }
    }

    /// Adds an event that isn't a notification, for webhooks without a condition.
    mutating func add(event name: String, body: [UInt8]) {
        for place in webhooks.indices where webhooks[place].scope == nil && webhooks[place].recordType == nil
        {
            add(name, body, to: place)
        }
    }

    private mutating func add(_ name: String, _ body: [UInt8], to place: Int) {
        changed.insert(place)
        guard webhooks[place].waitingCount < Int64(limits.webhookDeliveriesMax) else {
            webhooks[place].droppedCount += 1
            return
        }
        webhooks[place].waitingCount += 1
        deliveries.append(
            WebhookDeliveryRow(
                webhook: webhooks[place].name, notificationID: name, madeMilliseconds: nowMilliseconds,
                dueMilliseconds: nowMilliseconds, body: body))
    }

    func finish(_ changes: inout StoreChanges) {
        changes.notifications.webhooks += changed.sorted().map { webhooks[$0] }
        changes.notifications.deliveries += deliveries
    }
}

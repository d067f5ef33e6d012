extension SQLiteStoreTransaction: NotificationStoreReader {
    var notificationReader: any NotificationStoreReader { self }

    func firedChanges(changesMax: Int) throws -> ChangesPage<FiredChangeRow> {
        try firedChangeTable.changes(changesMax: changesMax)
    }

    func firedChangesCount() throws -> Int64 { try firedChangeTable.count() }

    func notifications(
        of user: String, after: Int64, notificationsMax: Int
    ) throws -> ChangesPage<NotificationRow> {
        try notificationTables.notifications(of: user, after: after, notificationsMax: notificationsMax)
    }

    func notifications(before milliseconds: Int64, notificationsMax: Int) throws -> [NotificationRow] {
        try notificationTables.notifications(before: milliseconds, notificationsMax: notificationsMax)
    }

    func webhooks() throws -> [WebhookRow] { try webhookTables.webhooks() }

    func dueDeliveries(
        of webhook: String, atMilliseconds: Int64, deliveriesMax: Int
    ) throws -> [WebhookDeliveryRow] {
        try webhookTables.dueDeliveries(
            of: webhook, atMilliseconds: atMilliseconds, deliveriesMax: deliveriesMax)
    }

    func deliveries(madeBefore milliseconds: Int64, deliveriesMax: Int) throws -> [WebhookDeliveryRow] {
        try webhookTables.deliveries(madeBefore: milliseconds, deliveriesMax: deliveriesMax)
    }

    func deliveries(numbers: [Int64]) throws -> [WebhookDeliveryRow] {
        try webhookTables.deliveries(numbers: numbers)
    }

    func nextDeliveryMilliseconds(of webhook: String) throws -> Int64? {
        try webhookTables.nextDeliveryMilliseconds(of: webhook)
    }
}

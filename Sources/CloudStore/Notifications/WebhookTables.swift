import SQLite

/// Webhooks and their pending deliveries. Owns `webhooks` and `webhookDeliveries`.
struct WebhookTables {
    let connection: Connection

    func apply(_ changes: NotificationChanges) throws {
        for name in changes.removedWebhooks { try removeWebhook(name) }
        for row in changes.webhooks { try write(row) }
        for number in changes.removedDeliveries { try removeDelivery(number) }
        for row in changes.deliveries { try write(row) }
    }

    func webhooks() throws -> [WebhookRow] {
        let sql = """
            SELECT name, url, secret, scope, type, madeMilliseconds, waiting, delivered, failed, abandoned, dropped,
            lastMilliseconds, lastResult, failuresInRow, pausedUntilMilliseconds FROM webhooks ORDER BY name
            """
        return try connection.withStatement(sql) { statement in
            try statement.rows {
                var row = WebhookRow(
                    name: $0.text(at: 0), url: $0.text(at: 1), secret: $0.bytes(at: 2),
                    scope: $0.isNull(at: 3) ? nil : StoredDatabaseKey.Scope(rawValue: $0.int64(at: 3)),
                    recordType: $0.optionalText(at: 4), madeMilliseconds: $0.int64(at: 5))
                row.waitingCount = $0.int64(at: 6)
                row.deliveredCount = $0.int64(at: 7)
                row.failedCount = $0.int64(at: 8)
                row.abandonedCount = $0.int64(at: 9)
                row.droppedCount = $0.int64(at: 10)
                row.lastMilliseconds = $0.int64(at: 11)
                row.lastResult = $0.text(at: 12)
                row.failuresInRow = $0.int64(at: 13)
                row.pausedUntilMilliseconds = $0.int64(at: 14)
                return row
            }
        }
    }

    func dueDeliveries(
        of webhook: String, atMilliseconds: Int64, deliveriesMax: Int
    ) throws -> [WebhookDeliveryRow] {
        let sql = """
            SELECT \(Self.deliveryColumns) FROM webhookDeliveries
            WHERE webhook = ?1 AND dueMilliseconds <= ?2 ORDER BY dueMilliseconds, number LIMIT ?3
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(webhook, atMilliseconds, deliveriesMax, at: 1)
            return try deliveries(from: statement)
        }
    }

    /// The oldest deliveries have the lowest numbers, so no index on the time is needed.
    func deliveries(madeBefore milliseconds: Int64, deliveriesMax: Int) throws -> [WebhookDeliveryRow] {
        let sql = "SELECT \(Self.deliveryColumns) FROM webhookDeliveries ORDER BY number LIMIT ?1"
        return try connection.withStatement(sql) { statement in
            try statement.bind(deliveriesMax, at: 1)
            return try deliveries(from: statement, madeBefore: milliseconds)
        }
    }

    func deliveries(numbers: [Int64]) throws -> [WebhookDeliveryRow] {
        let sql = "SELECT \(Self.deliveryColumns) FROM webhookDeliveries WHERE number = ?1"
        return try numbers.flatMap { number in
            try connection.withStatement(sql) { statement in
                try statement.bind(number, at: 1)
                return try deliveries(from: statement)
            }
        }
    }

    func nextDeliveryMilliseconds(of webhook: String) throws -> Int64? {
        let sql = "SELECT min(dueMilliseconds) FROM webhookDeliveries WHERE webhook = ?1"
        return try connection.withStatement(sql) { statement in
            try statement.bind(webhook, at: 1)
            return try statement.step() && !statement.isNull(at: 0) ? statement.int64(at: 0) : nil
        }
    }

    private static let deliveryColumns =
        "number, webhook, notification, madeMilliseconds, attempts, dueMilliseconds, body"

    private func deliveries(
        from statement: borrowing Statement, madeBefore milliseconds: Int64 = .max
    ) throws -> [WebhookDeliveryRow] {
        try statement.rows(while: { $0.int64(at: 3) < milliseconds }) {
            WebhookDeliveryRow(
                number: $0.int64(at: 0), webhook: $0.text(at: 1), notificationID: $0.text(at: 2),
                madeMilliseconds: $0.int64(at: 3), attempts: $0.int64(at: 4),
                dueMilliseconds: $0.int64(at: 5), body: $0.bytes(at: 6))
        }
    }

    private func removeWebhook(_ name: String) throws {
        for sql in [
            "DELETE FROM webhooks WHERE name = ?1", "DELETE FROM webhookDeliveries WHERE webhook = ?1",
        ] {
            try connection.run(sql) { try $0.bind(name, at: 1) }
        }
    }

    private func write(_ row: WebhookRow) throws {
        let sql = """
            INSERT OR REPLACE INTO webhooks
            (name, url, secret, scope, type, madeMilliseconds, waiting, delivered, failed, abandoned, dropped,
            lastMilliseconds, lastResult, failuresInRow, pausedUntilMilliseconds)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.name, row.url, at: 1)
            try statement.bind(row.scope?.rawValue, row.recordType, row.madeMilliseconds, at: 4)
            try statement.bind(row.waitingCount, row.deliveredCount, row.failedCount, at: 7)
            try statement.bind(row.abandonedCount, row.droppedCount, row.lastMilliseconds, at: 10)
            try statement.bind(row.lastResult, row.failuresInRow, row.pausedUntilMilliseconds, at: 13)
            try statement.binding(row.secret, at: 3) { try statement.run() }
        }
    }

    /// Resets the counts after all deliveries were erased.
    func forgetWaiting() throws { try connection.execute("UPDATE webhooks SET waiting = 0") }

    private func removeDelivery(_ number: Int64) throws {
        try connection.run("DELETE FROM webhookDeliveries WHERE number = ?1") { try $0.bind(number, at: 1) }
    }

    private func write(_ row: WebhookDeliveryRow) throws {
        let sql = """
            INSERT OR REPLACE INTO webhookDeliveries (\(Self.deliveryColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.number == 0 ? nil : row.number, row.webhook, row.notificationID, at: 1)
            try statement.bind(row.madeMilliseconds, row.attempts, row.dueMilliseconds, at: 4)
            try statement.binding(row.body, at: 7) { try statement.run() }
        }
    }
}

import SQLite

/// Users' collections of notifications. Owns `notifications` and `notificationFeeds`.
struct NotificationTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for user in wanted.notifications.feedsOf { loaded.notifications.feeds[user] = try feed(of: user) }
        for name in wanted.notifications.notifications {
            loaded.notifications.notifications[name] = try notification(name)
        }
        for key in wanted.notifications.unreadOf {
            loaded.notifications.unread[key] = try unreadNotification(of: key)
        }
    }

    func apply(_ changes: NotificationChanges) throws {
        for key in changes.removedNotifications { try remove(key) }
        for row in changes.notifications { try write(row) }
        for row in changes.feeds { try write(row) }
    }

    func notifications(
        of user: String, after: Int64, notificationsMax: Int
    ) throws -> ChangesPage<NotificationRow> {
        let sql = """
            SELECT \(Self.columns) FROM notifications
            WHERE user = ?1 AND number > ?2 ORDER BY number LIMIT ?3
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(user, after, notificationsMax + 1, at: 1)
            return try statement.page(rowsMax: notificationsMax, notification(from:))
        }
    }

    func notifications(before milliseconds: Int64, notificationsMax: Int) throws -> [NotificationRow] {
        let sql = """
            SELECT \(Self.columns) FROM notifications
            WHERE atMilliseconds < ?1 ORDER BY atMilliseconds, user, number LIMIT ?2
            """
        return try connection.rows(
            sql, before: milliseconds, rowsMax: notificationsMax, notification(from:))
    }

    private static let columns =
        "user, number, id, kind, scope, owner, subscription, atMilliseconds, isRead, maker, content"

    private func notification(_ name: NotificationName) throws -> NotificationRow? {
        let sql = "SELECT \(Self.columns) FROM notifications WHERE user = ?1 AND id = ?2"
        return try connection.withStatement(sql) { statement in
            try statement.bind(name.user, name.notificationID, at: 1)
            return try statement.step() ? try notification(from: statement) : nil
        }
    }

    private func unreadNotification(of key: SubscriptionKey) throws -> NotificationRow? {
        let sql = """
            SELECT \(Self.columns) FROM notifications
            WHERE user = ?1 AND scope = ?2 AND owner = ?3 AND subscription = ?4 AND kind = 2 AND isRead = 0
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key.user, at: 1)
            try statement.bind(key.database, at: 2)
            try statement.bind(key.subscriptionID, at: 4)
            return try statement.step() ? try notification(from: statement) : nil
        }
    }

    private func notification(from statement: borrowing Statement) throws -> NotificationRow {
        guard let kind = NotificationRow.Kind(rawValue: statement.int64(at: 3)),
            let scope = StoredDatabaseKey.Scope(rawValue: statement.int64(at: 4))
        else { throw CloudStoreError.damaged(path: connection.path, reason: "unknown kind of notification") }
        let user = statement.text(at: 0)
        return NotificationRow(
            key: NotificationKey(user: user, number: statement.int64(at: 1)),
            notificationID: statement.text(at: 2), kind: kind,
            subscription: SubscriptionKey(
                database: StoredDatabaseKey(scope: scope, owner: statement.text(at: 5)), user: user,
                subscriptionID: statement.text(at: 6)),
            atMilliseconds: statement.int64(at: 7), isRead: statement.int64(at: 8) != 0,
            maker: statement.optionalText(at: 9), content: statement.bytes(at: 10))
    }

    private func feed(of user: String) throws -> NotificationFeedRow? {
        let sql = "SELECT epoch, counter, floor, count, unread FROM notificationFeeds WHERE user = ?1"
        return try connection.withStatement(sql) { statement in
            try statement.bind(user, at: 1)
            guard try statement.step() else { return nil }
            return NotificationFeedRow(
                user: user, epoch: UInt64(bitPattern: statement.int64(at: 0)),
                counter: statement.int64(at: 1), floor: statement.int64(at: 2), count: statement.int64(at: 3),
                unreadCount: statement.int64(at: 4))
        }
    }

    // MARK: - Writing

    private func remove(_ key: NotificationKey) throws {
        try connection.run("DELETE FROM notifications WHERE user = ?1 AND number = ?2") { statement in
            try statement.bind(key.user, key.number, at: 1)
        }
    }

    private func write(_ row: NotificationRow) throws {
        let sql = """
            INSERT OR REPLACE INTO notifications (\(Self.columns))
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.key.user, row.key.number, row.notificationID, row.kind.rawValue, at: 1)
            try statement.bind(row.subscription.database, at: 5)
            try statement.bind(row.subscription.subscriptionID, row.atMilliseconds, row.isRead, at: 7)
            try statement.bind(row.maker, at: 10)
            try statement.binding(row.content, at: 11) { try statement.run() }
        }
    }

    private func write(_ row: NotificationFeedRow) throws {
        let sql = """
            INSERT OR REPLACE INTO notificationFeeds (user, epoch, counter, floor, count, unread)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try connection.run(sql) { statement in
            try statement.bind(row.user, row.epoch, row.counter, row.floor, at: 1)
            try statement.bind(row.count, row.unreadCount, at: 5)
        }
    }
}

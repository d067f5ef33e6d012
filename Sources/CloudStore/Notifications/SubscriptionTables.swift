import SQLite

/// Subscriptions, and their number for each type. Owns `subscriptions` and `watches`.
struct SubscriptionTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.subscriptionsIn { loaded.subscriptions[key] = try subscriptions(in: key) }
        for key in wanted.notifications.watches { loaded.notifications.watches[key] = try watch(key) }
        for key in wanted.notifications.watchersOf {
            loaded.notifications.watchers[key] = try watchers(of: key)
        }
        for key in wanted.notifications.subscriptionsOf {
            loaded.notifications.subscriptions[key] = try subscriptions(of: key)
        }
    }

    func apply(_ changes: StoreChanges) throws {
        for key in changes.removedSubscriptions { try remove(key) }
        for row in changes.subscriptions { try write(row) }
        for row in changes.notifications.watches { try write(row) }
    }

    private func subscriptions(in database: StoredDatabaseKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT \(Self.columns) FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 ORDER BY user, id
            """
        return try subscriptions(sql, in: database) { _ in }
    }

    private func watchers(of key: WatchKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT \(Self.columns) FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 AND type = ?3 ORDER BY number
            """
        return try subscriptions(sql, in: key.database) { try $0.bind(key.recordType, at: 3) }
    }

    private func subscriptions(of key: SubscriberKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT \(Self.columns) FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 ORDER BY id
            """
        return try subscriptions(sql, in: key.database) { try $0.bind(key.user, at: 3) }
    }

    private static let columns = "user, id, zone, content, type, number"

    private func subscriptions(
        _ sql: String, in database: StoredDatabaseKey, _ bind: (borrowing Statement) throws -> Void
    ) throws -> [SubscriptionRow] {
        try connection.withStatement(sql) { statement in
            try statement.bind(database)
            try bind(statement)
            return try statement.rows {
                let key = SubscriptionKey(
                    database: database, user: $0.text(at: 0), subscriptionID: $0.text(at: 1))
                return SubscriptionRow(
                    key: key, zoneName: $0.optionalText(at: 2), recordType: $0.optionalText(at: 4),
                    number: $0.int64(at: 5), content: $0.bytes(at: 3))
            }
        }
    }

    private func remove(_ key: SubscriptionKey) throws {
        let sql = "DELETE FROM subscriptions WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND id = ?4"
        try connection.run(sql) { statement in
            try statement.bind(key.database)
            try statement.bind(key.user, key.subscriptionID, at: 3)
        }
    }

    private func write(_ row: SubscriptionRow) throws {
        let sql = """
            INSERT OR REPLACE INTO subscriptions (scope, owner, user, id, zone, content, type, number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.key.database)
            try statement.bind(row.key.user, row.key.subscriptionID, row.zoneName, at: 3)
            try statement.bind(row.recordType, row.number, at: 7)
            try statement.binding(row.content, at: 6) { try statement.run() }
        }
    }

    private func watch(_ key: WatchKey) throws -> WatchRow? {
        let sql =
            "SELECT version, count, lastNumber FROM watches WHERE scope = ?1 AND owner = ?2 AND type = ?3"
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            guard try statement.step() else { return nil }
            return WatchRow(
                key: key, version: UInt64(bitPattern: statement.int64(at: 0)), count: statement.int64(at: 1),
                lastNumber: statement.int64(at: 2))
        }
    }

    private func write(_ row: WatchRow) throws {
        let sql = """
            INSERT OR REPLACE INTO watches (scope, owner, type, version, count, lastNumber)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try connection.run(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.version, row.count, row.lastNumber, at: 4)
        }
    }

    private func bind(_ key: WatchKey, to statement: borrowing Statement) throws {
        try statement.bind(key.database)
        try statement.bind(key.recordType, at: 3)
    }
}

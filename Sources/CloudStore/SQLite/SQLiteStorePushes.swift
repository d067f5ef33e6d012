import SQLite

/// Subscriptions, devices, push tasks and pushes.
extension SQLiteStoreTransaction {
    func loadPushes(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.subscriptionsIn { loaded.subscriptions[key] = try subscriptions(in: key) }
        for user in wanted.devicesOf {
            loaded.devices[user] = try devices("user = ?1 ORDER BY device", user)
        }
        for token in wanted.deviceTokens {
            loaded.tokenDevices[token] = try devices("token = ?1", token).first
        }
        for zone in wanted.pushTasks { loaded.pushTasks[zone] = try pushTask(zone) }
        for device in wanted.pushesOf { loaded.pushes[device] = try pushes(of: device) }
        try load(wanted.notifications, into: &loaded.notifications)
    }

    func applyPushes(_ changes: StoreChanges) throws {
        for key in changes.removedSubscriptions { try remove(key) }
        for row in changes.subscriptions { try write(row) }
        for key in changes.removedDevices { try remove(key) }
        for row in changes.devices { try write(row) }
        for key in changes.removedPushes { try remove(key) }
        for row in changes.pushes { try write(row) }
        for zone in changes.removedPushTasks { try removePushTask(zone) }
        for row in changes.pushTasks { try write(row) }
        try apply(changes.notifications)
    }

    func pushTasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        let sql = """
            SELECT scope, owner, zone, makerUser, makerDevice FROM pushTasks
            WHERE (scope, owner, zone) > (?1, ?2, ?3) ORDER BY scope, owner, zone LIMIT ?4
            """
        return try connection.withStatement(sql) { statement in
            try bind(after: after, to: statement)
            try statement.bind(Int64(tasksMax) + 1, at: 4)
            var page = ChangesPage<PushTaskRow>(rows: [], moreComing: false)
            while try statement.step() {
                guard page.rows.count < tasksMax else {
                    page.moreComing = true
                    break
                }
                page.rows.append(pushTask(try zoneKey(from: statement, at: 0), from: statement, at: 3))
            }
            return page
        }
    }

    private func subscriptions(in database: DatabaseKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT user, id, zone, content, type, number FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 ORDER BY user, id
            """
        return try connection.withStatement(sql) { statement in
            try bind(database, to: statement)
            return try subscriptions(in: database, from: statement)
        }
    }

    /// Reads rows of a subscription's user, name, zone, content, type and number.
    func subscriptions(
        in database: DatabaseKey, from statement: borrowing Statement
    ) throws -> [SubscriptionRow] {
        var rows: [SubscriptionRow] = []
        while try statement.step() {
            let key = SubscriptionKey(
                database: database, user: statement.text(at: 0), subscriptionID: statement.text(at: 1))
            rows.append(
                SubscriptionRow(
                    key: key, zoneName: statement.isNull(at: 2) ? nil : statement.text(at: 2),
                    recordType: statement.isNull(at: 4) ? nil : statement.text(at: 4),
                    number: statement.int64(at: 5), content: statement.bytes(at: 3)))
        }
        return rows
    }

    private func devices(_ condition: String, _ value: String) throws -> [DeviceRow] {
        let sql = "SELECT user, device, token, environment, seenMilliseconds FROM devices WHERE \(condition)"
        return try connection.withStatement(sql) { statement in
            try statement.bind(value, at: 1)
            var rows: [DeviceRow] = []
            while try statement.step() {
                rows.append(
                    DeviceRow(
                        key: DeviceKey(user: statement.text(at: 0), device: statement.text(at: 1)),
                        token: statement.text(at: 2), environment: statement.text(at: 3),
                        seenMilliseconds: statement.int64(at: 4)))
            }
            return rows
        }
    }

    private func pushTask(_ zone: ZoneKey) throws -> PushTaskRow? {
        let sql = """
            SELECT makerUser, makerDevice FROM pushTasks WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            """
        return try connection.withStatement(sql) { statement in
            try bind(zone, to: statement)
            return try statement.step() ? pushTask(zone, from: statement, at: 0) : nil
        }
    }

    private func pushTask(_ zone: ZoneKey, from statement: borrowing Statement, at column: Int32)
        -> PushTaskRow
    {
        let maker =
            statement.isNull(at: column)
            ? nil : DeviceKey(user: statement.text(at: column), device: statement.text(at: column + 1))
        return PushTaskRow(zone: zone, maker: maker)
    }

    private func pushes(of device: DeviceKey) throws -> [PushRow] {
        let sql = """
            SELECT user, device, scope, owner, subscription, notification, atMilliseconds, number, count, content
            FROM pushes
            WHERE user = ?1 AND device = ?2 ORDER BY atMilliseconds, scope, owner, subscription
            """
        return try connection.withStatement(sql) { statement in
            try bind(device, to: statement)
            var rows: [PushRow] = []
            while try statement.step() {
                rows.append(
                    PushRow(
                        key: try pushKey(from: statement), notificationID: statement.text(at: 5),
                        atMilliseconds: statement.int64(at: 6), number: statement.int64(at: 7),
                        count: statement.int64(at: 8),
                        content: statement.isNull(at: 9) ? nil : statement.bytes(at: 9)))
            }
            return rows
        }
    }

    /// Reads the five columns of a push's key, which come first.
    func pushKey(from statement: borrowing Statement) throws -> PushKey {
        guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: 2)) else {
            throw CloudStoreError.damaged(path: path, reason: "unknown scope \(statement.int64(at: 2))")
        }
        return PushKey(
            device: DeviceKey(user: statement.text(at: 0), device: statement.text(at: 1)),
            database: DatabaseKey(scope: scope, owner: statement.text(at: 3)),
            subscriptionID: statement.text(at: 4))
    }

    func bind(_ key: DeviceKey, to statement: borrowing Statement) throws {
        try statement.bind(key.user, at: 1)
        try statement.bind(key.device, at: 2)
    }

    // MARK: Writing

    private func remove(_ key: SubscriptionKey) throws {
        let sql = "DELETE FROM subscriptions WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND id = ?4"
        try connection.withStatement(sql) { statement in
            try bind(key.database, to: statement)
            try statement.bind(key.user, at: 3)
            try statement.bind(key.subscriptionID, at: 4)
            try statement.run()
        }
    }

    private func write(_ row: SubscriptionRow) throws {
        let sql = """
            INSERT OR REPLACE INTO subscriptions (scope, owner, user, id, zone, content, type, number)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key.database, to: statement)
            try statement.bind(row.key.user, at: 3)
            try statement.bind(row.key.subscriptionID, at: 4)
            try bind(row.zoneName, to: statement, at: 5)
            try bind(row.recordType, to: statement, at: 7)
            try statement.bind(row.number, at: 8)
            try statement.binding(row.content, at: 6) { try statement.run() }
        }
    }

    private func remove(_ key: DeviceKey) throws {
        for table in ["devices", "pushes"] {
            try connection.withStatement("DELETE FROM \(table) WHERE user = ?1 AND device = ?2") {
                statement in
                try bind(key, to: statement)
                try statement.run()
            }
        }
    }

    private func write(_ row: DeviceRow) throws {
        let sql = """
            INSERT OR REPLACE INTO devices (user, device, token, environment, seenMilliseconds)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.token, at: 3)
            try statement.bind(row.environment, at: 4)
            try statement.bind(row.seenMilliseconds, at: 5)
            try statement.run()
        }
    }

    private func remove(_ key: PushKey) throws {
        let sql = """
            DELETE FROM pushes
            WHERE user = ?1 AND device = ?2 AND scope = ?3 AND owner = ?4 AND subscription = ?5
            """
        try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            try statement.run()
        }
    }

    private func write(_ row: PushRow) throws {
        let sql = """
            INSERT OR REPLACE INTO pushes
            (user, device, scope, owner, subscription, notification, atMilliseconds, number, count, content)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.notificationID, at: 6)
            try statement.bind(row.atMilliseconds, at: 7)
            try statement.bind(row.number, at: 8)
            try statement.bind(row.count, at: 9)
            guard let content = row.content else {
                try statement.bindNull(at: 10)
                return try statement.run()
            }
            try statement.binding(content, at: 10) { try statement.run() }
        }
    }

    private func bind(_ key: PushKey, to statement: borrowing Statement) throws {
        try bind(key.device, to: statement)
        try statement.bind(key.database.scope.rawValue, at: 3)
        try statement.bind(key.database.owner, at: 4)
        try statement.bind(key.subscriptionID, at: 5)
    }

    private func removePushTask(_ zone: ZoneKey) throws {
        let sql = "DELETE FROM pushTasks WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        try connection.withStatement(sql) { statement in
            try bind(zone, to: statement)
            try statement.run()
        }
    }

    private func write(_ row: PushTaskRow) throws {
        let sql = """
            INSERT OR REPLACE INTO pushTasks (scope, owner, zone, makerUser, makerDevice)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.zone, to: statement)
            try bind(row.maker?.user, to: statement, at: 4)
            try bind(row.maker?.device, to: statement, at: 5)
            try statement.run()
        }
    }

    func bind(_ text: String?, to statement: borrowing Statement, at index: Int32) throws {
        if let text {
            try statement.bind(text, at: index)
        } else {
            try statement.bindNull(at: index)
        }
    }
}

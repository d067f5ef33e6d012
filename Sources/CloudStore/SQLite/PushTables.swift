import SQLite

/// Devices, their pending pushes, and the zones with pending notifications. Owns `devices`, `pushes` and
/// `pushTasks`.
struct PushTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for user in wanted.devicesOf {
            loaded.devices[user] = try devices("user = ?1 ORDER BY device", user)
        }
        for token in wanted.deviceTokens {
            loaded.tokenDevices[token] = try devices("token = ?1", token).first
        }
        for zone in wanted.pushTasks { loaded.pushTasks[zone] = try task(zone) }
        for device in wanted.pushesOf { loaded.pushes[device] = try pushes(of: device) }
    }

    func apply(_ changes: StoreChanges) throws {
        for key in changes.removedDevices { try remove(key) }
        for row in changes.devices { try write(row) }
        for key in changes.removedPushes { try remove(key) }
        for row in changes.pushes { try write(row) }
        for zone in changes.removedPushTasks { try removeTask(zone) }
        for row in changes.pushTasks { try write(row) }
    }

    func tasks(after: ZoneKey?, tasksMax: Int) throws -> ChangesPage<PushTaskRow> {
        let sql = """
            SELECT scope, owner, zone, makerUser, makerDevice FROM pushTasks
            WHERE (scope, owner, zone) > (?1, ?2, ?3) ORDER BY scope, owner, zone LIMIT ?4
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after: after)
            try statement.bind(tasksMax + 1, at: 4)
            return try statement.page(rowsMax: tasksMax) {
                PushTaskRow(zone: try connection.zoneKey(from: $0, at: 0), maker: $0.optionalDevice(at: 3))
            }
        }
    }

    func outdatedPushes(_ query: OutdatedQuery) throws -> [PushKey] {
        let sql = """
            SELECT user, device, scope, owner, subscription FROM pushes
            WHERE atMilliseconds < ?1 ORDER BY atMilliseconds LIMIT ?2
            """
        return try connection.rows(sql, before: query.pushesBefore, rowsMax: query.rowsMax, pushKey(from:))
    }

    func outdatedDevices(_ query: OutdatedQuery) throws -> [DeviceKey] {
        let sql = """
            SELECT user, device FROM devices
            WHERE seenMilliseconds < ?1 ORDER BY seenMilliseconds LIMIT ?2
            """
        return try connection.rows(sql, before: query.devicesSeenBefore, rowsMax: query.rowsMax) {
            DeviceKey(user: $0.text(at: 0), device: $0.text(at: 1))
        }
    }

    func countPushes(rowsMax: Int) throws -> Int {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM pushes LIMIT ?1)"
        return try connection.withStatement(sql) { statement in
            try statement.bind(rowsMax, at: 1)
            return Int(try statement.firstInt64())
        }
    }

    private func devices(_ condition: String, _ value: String) throws -> [DeviceRow] {
        let sql = "SELECT user, device, token, environment, seenMilliseconds FROM devices WHERE \(condition)"
        return try connection.withStatement(sql) { statement in
            try statement.bind(value, at: 1)
            return try statement.rows {
                DeviceRow(
                    key: DeviceKey(user: $0.text(at: 0), device: $0.text(at: 1)), token: $0.text(at: 2),
                    environment: $0.text(at: 3), seenMilliseconds: $0.int64(at: 4))
            }
        }
    }

    private func task(_ zone: ZoneKey) throws -> PushTaskRow? {
        let sql = """
            SELECT makerUser, makerDevice FROM pushTasks WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(zone)
            return try statement.step()
                ? PushTaskRow(zone: zone, maker: statement.optionalDevice(at: 0)) : nil
        }
    }

    private func pushes(of device: DeviceKey) throws -> [PushRow] {
        let sql = """
            SELECT user, device, scope, owner, subscription, notification, atMilliseconds, number, count, content
            FROM pushes
            WHERE user = ?1 AND device = ?2 ORDER BY atMilliseconds, scope, owner, subscription
            """
        return try connection.withStatement(sql) { statement in
            try bind(device, to: statement)
            return try statement.rows {
                PushRow(
                    key: try pushKey(from: $0), notificationID: $0.text(at: 5),
                    atMilliseconds: $0.int64(at: 6), number: $0.int64(at: 7), count: $0.int64(at: 8),
                    content: $0.isNull(at: 9) ? nil : $0.bytes(at: 9))
            }
        }
    }

    /// Reads the five columns of a push's key, the first columns of the row.
    private func pushKey(from statement: borrowing Statement) throws -> PushKey {
        PushKey(
            device: DeviceKey(user: statement.text(at: 0), device: statement.text(at: 1)),
            database: try connection.databaseKey(from: statement, at: 2),
            subscriptionID: statement.text(at: 4))
    }

    // MARK: - Writing

    private func remove(_ key: DeviceKey) throws {
        for table in ["devices", "pushes"] {
            try connection.run("DELETE FROM \(table) WHERE user = ?1 AND device = ?2") {
                try bind(key, to: $0)
            }
        }
    }

    private func write(_ row: DeviceRow) throws {
        let sql = """
            INSERT OR REPLACE INTO devices (user, device, token, environment, seenMilliseconds)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        try connection.run(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.token, row.environment, row.seenMilliseconds, at: 3)
        }
    }

    private func remove(_ key: PushKey) throws {
        let sql = """
            DELETE FROM pushes
            WHERE user = ?1 AND device = ?2 AND scope = ?3 AND owner = ?4 AND subscription = ?5
            """
        try connection.run(sql) { try bind(key, to: $0) }
    }

    private func write(_ row: PushRow) throws {
        let sql = """
            INSERT OR REPLACE INTO pushes
            (user, device, scope, owner, subscription, notification, atMilliseconds, number, count, content)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.notificationID, row.atMilliseconds, row.number, row.count, at: 6)
            guard let content = row.content else {
                try statement.bindNull(at: 10)
                return try statement.run()
            }
            try statement.binding(content, at: 10) { try statement.run() }
        }
    }

    private func removeTask(_ zone: ZoneKey) throws {
        let sql = "DELETE FROM pushTasks WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        try connection.run(sql) { try $0.bind(zone) }
    }

    private func write(_ row: PushTaskRow) throws {
        let sql = """
            INSERT OR REPLACE INTO pushTasks (scope, owner, zone, makerUser, makerDevice)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        try connection.run(sql) { statement in
            try statement.bind(row.zone)
            try statement.bind(row.maker?.user, row.maker?.device, at: 4)
        }
    }

    private func bind(_ key: DeviceKey, to statement: borrowing Statement) throws {
        try statement.bind(key.user, key.device, at: 1)
    }

    private func bind(_ key: PushKey, to statement: borrowing Statement) throws {
        try bind(key.device, to: statement)
        try statement.bind(key.database, at: 3)
        try statement.bind(key.subscriptionID, at: 5)
    }
}

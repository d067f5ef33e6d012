import SQLite

/// Query subscriptions, and the changes that they are to be told of.
extension SQLiteStoreTransaction {
    func watch(_ key: WatchKey) throws -> WatchRow? {
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

    func watchers(of key: WatchKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT user, id, zone, content, type, number FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 AND type = ?3 ORDER BY number
            """
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            return try subscriptions(in: key.database, from: statement)
        }
    }

    func subscriptions(of key: SubscriberKey) throws -> [SubscriptionRow] {
        let sql = """
            SELECT user, id, zone, content, type, number FROM subscriptions
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 ORDER BY id
            """
        return try connection.withStatement(sql) { statement in
            try bind(key.database, to: statement)
            try statement.bind(key.user, at: 3)
            return try subscriptions(in: key.database, from: statement)
        }
    }

    func write(_ row: WatchRow) throws {
        let sql = """
            INSERT OR REPLACE INTO watches (scope, owner, type, version, count, lastNumber)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(Int64(bitPattern: row.version), at: 4)
            try statement.bind(row.count, at: 5)
            try statement.bind(row.lastNumber, at: 6)
            try statement.run()
        }
    }

    func firedChanges(changesMax: Int) throws -> ChangesPage<FiredChangeRow> {
        let sql = """
            SELECT scope, owner, zone, number, name, type, reason, makerUser, makerDevice, atMilliseconds, fields,
            watchers FROM firedChanges ORDER BY number LIMIT ?1
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(Int64(changesMax) + 1, at: 1)
            var page = ChangesPage<FiredChangeRow>(rows: [], moreComing: false)
            while try statement.step() {
                guard page.rows.count < changesMax else {
                    page.moreComing = true
                    break
                }
                let zone = try zoneKey(from: statement, at: 0)
                page.rows.append(
                    FiredChangeRow(
                        number: statement.int64(at: 3),
                        record: RecordKey(zone: zone, recordName: statement.text(at: 4)),
                        recordType: statement.text(at: 5), reason: statement.int64(at: 6),
                        maker: statement.isNull(at: 7)
                            ? nil : DeviceKey(user: statement.text(at: 7), device: statement.text(at: 8)),
                        atMilliseconds: statement.int64(at: 9), fields: statement.bytes(at: 10),
                        watchers: statement.bytes(at: 11)))
            }
            return page
        }
    }

    /// The numbers between the oldest and the newest: both ends of the table, however long it is.
    func firedChangesCount() throws -> Int64 {
        let sql = "SELECT (SELECT max(number) FROM firedChanges) - (SELECT min(number) FROM firedChanges) + 1"
        return try connection.withStatement(sql) { try $0.step() && !$0.isNull(at: 0) ? $0.int64(at: 0) : 0 }
    }

    func removeFiredChange(_ number: Int64) throws {
        try connection.withStatement("DELETE FROM firedChanges WHERE number = ?1") { statement in
            try statement.bind(number, at: 1)
            try statement.run()
        }
    }

    func write(_ row: FiredChangeRow) throws {
        let sql = """
            INSERT OR REPLACE INTO firedChanges
            (scope, owner, zone, number, name, type, reason, makerUser, makerDevice, atMilliseconds, fields, watchers)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.record.zone, to: statement)
            if row.number == 0 {
                try statement.bindNull(at: 4)
            } else {
                try statement.bind(row.number, at: 4)
            }
            try statement.bind(row.record.recordName, at: 5)
            try statement.bind(row.recordType, at: 6)
            try statement.bind(row.reason, at: 7)
            try bind(row.maker?.user, to: statement, at: 8)
            try bind(row.maker?.device, to: statement, at: 9)
            try statement.bind(row.atMilliseconds, at: 10)
            try statement.binding(row.fields, at: 11) {
                try statement.binding(row.watchers, at: 12) { try statement.run() }
            }
        }
    }

    private func bind(_ key: WatchKey, to statement: borrowing Statement) throws {
        try bind(key.database, to: statement)
        try statement.bind(key.recordType, at: 3)
    }
}

import SQLite

/// Changes with pending notifications of query subscriptions. Owns `firedChanges`.
struct FiredChangeTable {
    let connection: Connection

    func apply(_ changes: NotificationChanges) throws {
        for number in changes.removedFiredChanges { try remove(number) }
        for row in changes.firedChanges { try write(row) }
    }

    func changes(changesMax: Int) throws -> ChangesPage<FiredChangeRow> {
        let sql = """
            SELECT scope, owner, zone, number, name, type, reason, makerUser, makerDevice, atMilliseconds, fields,
            watchers FROM firedChanges ORDER BY number LIMIT ?1
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(changesMax + 1, at: 1)
            return try statement.page(rowsMax: changesMax) {
                let zone = try connection.zoneKey(from: $0, at: 0)
                return FiredChangeRow(
                    number: $0.int64(at: 3), record: RecordKey(zone: zone, recordName: $0.text(at: 4)),
                    recordType: $0.text(at: 5), reason: $0.int64(at: 6), maker: $0.optionalDevice(at: 7),
                    atMilliseconds: $0.int64(at: 9), fields: $0.bytes(at: 10), watchers: $0.bytes(at: 11))
            }
        }
    }

    /// Computed from the numbers at both ends of the table, so its length doesn't matter.
    func count() throws -> Int64 {
        let sql = "SELECT (SELECT max(number) FROM firedChanges) - (SELECT min(number) FROM firedChanges) + 1"
        return try connection.withStatement(sql) { try $0.firstInt64() }
    }

    private func remove(_ number: Int64) throws {
        try connection.run("DELETE FROM firedChanges WHERE number = ?1") { try $0.bind(number, at: 1) }
    }

    private func write(_ row: FiredChangeRow) throws {
        let sql = """
            INSERT OR REPLACE INTO firedChanges
            (scope, owner, zone, number, name, type, reason, makerUser, makerDevice, atMilliseconds, fields, watchers)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(row.record.zone)
            try statement.bind(row.number == 0 ? nil : row.number, row.record.recordName, at: 4)
            try statement.bind(row.recordType, row.reason, row.maker?.user, row.maker?.device, at: 6)
            try statement.bind(row.atMilliseconds, at: 10)
            try statement.binding(row.fields, at: 11) {
                try statement.binding(row.watchers, at: 12) { try statement.run() }
            }
        }
    }
}

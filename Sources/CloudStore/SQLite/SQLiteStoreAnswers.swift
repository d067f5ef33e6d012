import SQLite

/// Kept answers, and what has outlived its use.
extension SQLiteStoreTransaction {
    func answer(_ key: OperationKey) throws -> KeptAnswerRow? {
        let sql = """
            SELECT requestHash, atMilliseconds, answer FROM answers
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation = ?4
            """
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            guard try statement.step() else { return nil }
            return KeptAnswerRow(
                key: key, requestHash: statement.bytes(at: 0), atMilliseconds: statement.int64(at: 1),
                answer: statement.bytes(at: 2))
        }
    }

    /// The names that begin alike lie before their beginning with U+0080 behind it: after the beginning they are ASCII.
    func answers(of series: AnswerSeries) throws -> [KeptAnswerRow] {
        let sql = """
            SELECT requestHash, atMilliseconds, answer, operation, length(answer) FROM answers
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation >= ?4 AND operation < ?4 || char(128)
            AND atMilliseconds >= ?5 ORDER BY number DESC LIMIT ?6
            """
        return try connection.withStatement(sql) { statement in
            try bind(series.beginning, to: statement)
            try statement.bind(series.sinceMilliseconds, at: 5)
            try statement.bind(Int64(series.rowsMax), at: 6)
            var rows: [KeptAnswerRow] = []
            var bytesLeft = Int64(series.bytesMax)
            while try statement.step() {
                let bytes = statement.int64(at: 4)
                guard bytes <= bytesLeft else { continue }
                bytesLeft -= bytes
                let key = OperationKey(
                    database: series.beginning.database, user: series.beginning.user,
                    operationID: statement.text(at: 3))
                rows.append(
                    KeptAnswerRow(
                        key: key, requestHash: statement.bytes(at: 0), atMilliseconds: statement.int64(at: 1),
                        answer: statement.bytes(at: 2)))
            }
            return rows
        }
    }

    func write(_ row: KeptAnswerRow) throws {
        try remove(row.key)
        try count(row.key.user, rows: 1, bytes: Int64(row.answer.count))
        let sql = """
            INSERT INTO answers
            (scope, owner, user, operation, requestHash, atMilliseconds, answer)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.requestHash, at: 5)
            try statement.bind(row.atMilliseconds, at: 6)
            try statement.binding(row.answer, at: 7) { try statement.run() }
        }
    }

    func remove(_ key: OperationKey) throws {
        let sql = """
            DELETE FROM answers WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation = ?4
            RETURNING length(answer)
            """
        let bytes = try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            return try statement.step() ? statement.int64(at: 0) : nil
        }
        if let bytes { try count(key.user, rows: -1, bytes: -bytes) }
    }

    /// Rows that are read at a time to find out which go.
    private static let trimmedRowsMax: Int64 = 64

    func trimAnswers(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int {
        var (rows, bytes) = try answerTotals(of: user)
        var count = 0
        while rows > 1, rows > rowsMax || bytes > bytesMax {
            let oldest = try oldestAnswers(of: user)
            guard !oldest.isEmpty else { break }
            for answer in oldest where rows > 1 && (rows > rowsMax || bytes > bytesMax) {
                try remove(answer.key)
                rows -= 1
                bytes -= answer.bytes
                count += 1
            }
        }
        return count
    }

    private func answerTotals(of user: String) throws -> (rows: Int64, bytes: Int64) {
        try connection.withStatement("SELECT rows, bytes FROM answerTotals WHERE user = ?1") { statement in
            try statement.bind(user, at: 1)
            return try statement.step() ? (statement.int64(at: 0), statement.int64(at: 1)) : (0, 0)
        }
    }

    private func oldestAnswers(of user: String) throws -> [(key: OperationKey, bytes: Int64)] {
        let sql = """
            SELECT scope, owner, user, operation, length(answer) FROM answers INDEXED BY answersByUser
            WHERE user = ?1 ORDER BY number LIMIT ?2
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(user, at: 1)
            try statement.bind(Self.trimmedRowsMax, at: 2)
            var oldest: [(key: OperationKey, bytes: Int64)] = []
            while try statement.step() {
                oldest.append((try operationKey(from: statement), statement.int64(at: 4)))
            }
            return oldest
        }
    }

    private func operationKey(from statement: borrowing Statement) throws -> OperationKey {
        guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: 0)) else {
            throw CloudStoreError.damaged(path: path, reason: "unknown scope \(statement.int64(at: 0))")
        }
        return OperationKey(
            database: DatabaseKey(scope: scope, owner: statement.text(at: 1)), user: statement.text(at: 2),
            operationID: statement.text(at: 3))
    }

    private func count(_ user: String, rows: Int64, bytes: Int64) throws {
        let sql = """
            INSERT INTO answerTotals (user, rows, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (user) DO UPDATE SET rows = rows + ?2, bytes = bytes + ?3
            """
        try connection.withStatement(sql) { statement in
            try statement.bind(user, at: 1)
            try statement.bind(rows, at: 2)
            try statement.bind(bytes, at: 3)
            try statement.run()
        }
    }

    func outdated(_ query: OutdatedQuery) throws -> OutdatedRows {
        var rows = OutdatedRows()
        rows.answers = try outdatedAnswers(before: query.answersBefore, rowsMax: query.rowsMax)
        rows.pushes = try outdated(
            """
            SELECT user, device, scope, owner, subscription FROM pushes
            WHERE atMilliseconds < ?1 ORDER BY atMilliseconds LIMIT ?2
            """, before: query.pushesBefore, rowsMax: query.rowsMax
        ) { try pushKey(from: $0) }
        rows.devices = try outdated(
            """
            SELECT user, device FROM devices
            WHERE seenMilliseconds < ?1 ORDER BY seenMilliseconds LIMIT ?2
            """, before: query.devicesSeenBefore, rowsMax: query.rowsMax
        ) {
            DeviceKey(user: $0.text(at: 0), device: $0.text(at: 1))
        }
        rows.tombstones = try outdated(
            """
            SELECT scope, owner, zone, name, \(Self.recordColumns) FROM records AS r INDEXED BY tombstonesMade
            WHERE isDeleted = 1 AND modifiedMilliseconds < ?1 AND \(Self.isNotCleared)
            ORDER BY modifiedMilliseconds, scope, owner, zone, name LIMIT ?2
            """, before: query.tombstonesBefore, rowsMax: query.rowsMax
        ) { statement in
            let place = try zoneKey(from: statement, at: 0)
            let key = RecordKey(zone: try zone(at: place) ?? place, recordName: statement.text(at: 3))
            return recordRow(key, from: statement, at: 4)
        }
        rows.zones = try outdated(
            """
            SELECT scope, owner, zone, \(Self.zoneColumns) FROM zones INDEXED BY zonesDeleted
            WHERE isDeleted = 1 AND deletedMilliseconds < ?1 ORDER BY deletedMilliseconds, scope, owner, zone LIMIT ?2
            """, before: query.zonesDeletedBefore, rowsMax: query.rowsMax
        ) {
            zoneRow(try zoneKey(from: $0, at: 0), from: $0, at: 3)
        }
        return rows
    }

    /// The oldest answers have the lowest numbers, so that no index on the time is needed: the first that is young
    /// enough ends the search.
    private func outdatedAnswers(before: Int64, rowsMax: Int) throws -> [OperationKey] {
        let sql = "SELECT scope, owner, user, operation, atMilliseconds FROM answers ORDER BY number LIMIT ?1"
        return try connection.withStatement(sql) { statement in
            try statement.bind(Int64(rowsMax), at: 1)
            var keys: [OperationKey] = []
            while try statement.step(), statement.int64(at: 4) < before {
                keys.append(try operationKey(from: statement))
            }
            return keys
        }
    }

    private func outdated<Key>(
        _ sql: String, before: Int64, rowsMax: Int, _ key: (borrowing Statement) throws -> Key
    ) throws -> [Key] {
        try connection.withStatement(sql) { statement in
            try statement.bind(before, at: 1)
            try statement.bind(Int64(rowsMax), at: 2)
            var keys: [Key] = []
            while try statement.step() { keys.append(try key(statement)) }
            return keys
        }
    }

    private func bind(_ key: OperationKey, to statement: borrowing Statement) throws {
        try bind(key.database, to: statement)
        try statement.bind(key.user, at: 3)
        try statement.bind(key.operationID, at: 4)
    }
}

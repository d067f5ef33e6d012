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

    func write(_ row: KeptAnswerRow) throws {
        let sql = """
            INSERT OR REPLACE INTO answers
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
        let sql = "DELETE FROM answers WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation = ?4"
        try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
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
                guard let scope = DatabaseKey.Scope(rawValue: statement.int64(at: 0)) else {
                    throw CloudStoreError.damaged(
                        path: path, reason: "unknown scope \(statement.int64(at: 0))")
                }
                keys.append(
                    OperationKey(
                        database: DatabaseKey(scope: scope, owner: statement.text(at: 1)),
                        user: statement.text(at: 2), operationID: statement.text(at: 3)))
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

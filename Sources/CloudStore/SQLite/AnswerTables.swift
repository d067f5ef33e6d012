import SQLite

/// Kept answers, and their number for each user. Owns `answers` and `answerTotals`.
struct AnswerTables {
    let connection: Connection

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for key in wanted.answers { loaded.answers[key] = try answer(key) }
        if let series = wanted.answerSeries {
            for row in try answers(of: series) { loaded.answers[row.key] = row }
        }
    }

    func apply(_ changes: StoreChanges) throws {
        for key in changes.removedAnswers { try remove(key) }
        for row in changes.answers { try write(row) }
    }

    private func answer(_ key: OperationKey) throws -> KeptAnswerRow? {
        let sql = """
            SELECT requestHash, atMilliseconds, answer FROM answers
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation = ?4
            """
        return try connection.withStatement(sql) { statement in
            try bind(key, to: statement)
            return try statement.step() ? row(key, from: statement) : nil
        }
    }

    /// Names with a prefix sort before the prefix followed by U+0080, because names are ASCII.
    private func answers(of series: AnswerSeries) throws -> [KeptAnswerRow] {
        let sql = """
            SELECT requestHash, atMilliseconds, answer, operation, length(answer) FROM answers
            WHERE scope = ?1 AND owner = ?2 AND user = ?3 AND operation >= ?4 AND operation < ?4 || char(128)
            AND atMilliseconds >= ?5 ORDER BY number DESC LIMIT ?6
            """
        return try connection.withStatement(sql) { statement in
            try bind(series.beginning, to: statement)
            try statement.bind(series.sinceMilliseconds, series.rowsMax, at: 5)
            var rows: [KeptAnswerRow] = []
            var bytesLeft = Int64(series.bytesMax)
            while try statement.step() {
                let bytes = statement.int64(at: 4)
                guard bytes <= bytesLeft else { continue }
                bytesLeft -= bytes
                let key = OperationKey(
                    database: series.beginning.database, user: series.beginning.user,
                    operationID: statement.text(at: 3))
                rows.append(row(key, from: statement))
            }
            return rows
        }
    }

    private func row(_ key: OperationKey, from statement: borrowing Statement) -> KeptAnswerRow {
        KeptAnswerRow(
            key: key, requestHash: statement.bytes(at: 0), atMilliseconds: statement.int64(at: 1),
            answer: statement.bytes(at: 2))
    }

    private func write(_ row: KeptAnswerRow) throws {
        try remove(row.key)
        try count(row.key.user, rows: 1, bytes: Int64(row.answer.count))
        let sql = """
            INSERT INTO answers
            (scope, owner, user, operation, requestHash, atMilliseconds, answer)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        try connection.withStatement(sql) { statement in
            try bind(row.key, to: statement)
            try statement.bind(row.requestHash, row.atMilliseconds, at: 5)
            try statement.binding(row.answer, at: 7) { try statement.run() }
        }
    }

    private func remove(_ key: OperationKey) throws {
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

    /// Number of rows that are read at a time to find those to delete.
    private static let trimmedRowsMax = 64

    func trim(of user: String, rowsMax: Int64, bytesMax: Int64) throws -> Int {
        var (rows, bytes) = try totals(of: user)
        var count = 0
        while rows > 1, rows > rowsMax || bytes > bytesMax {
            let oldest = try oldest(of: user)
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

    private func totals(of user: String) throws -> (rows: Int64, bytes: Int64) {
        try connection.withStatement("SELECT rows, bytes FROM answerTotals WHERE user = ?1") { statement in
            try statement.bind(user, at: 1)
            return try statement.step() ? (statement.int64(at: 0), statement.int64(at: 1)) : (0, 0)
        }
    }

    private func oldest(of user: String) throws -> [(key: OperationKey, bytes: Int64)] {
        let sql = """
            SELECT scope, owner, user, operation, length(answer) FROM answers INDEXED BY answersByUser
            WHERE user = ?1 ORDER BY number LIMIT ?2
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(user, Self.trimmedRowsMax, at: 1)
            return try statement.rows { (try key(from: $0), $0.int64(at: 4)) }
        }
    }

    private func key(from statement: borrowing Statement) throws -> OperationKey {
        OperationKey(
            database: try connection.databaseKey(from: statement, at: 0), user: statement.text(at: 2),
            operationID: statement.text(at: 3))
    }

    private func count(_ user: String, rows: Int64, bytes: Int64) throws {
        let sql = """
            INSERT INTO answerTotals (user, rows, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (user) DO UPDATE SET rows = rows + ?2, bytes = bytes + ?3
            """
        try connection.run(sql) { statement in
            try statement.bind(user, rows, bytes, at: 1)
        }
    }

    /// The oldest answers have the lowest numbers, so no index on the time is needed: the search ends at the first
    /// answer that is new enough.
    func outdated(_ query: OutdatedQuery) throws -> [OperationKey] {
        let sql = "SELECT scope, owner, user, operation, atMilliseconds FROM answers ORDER BY number LIMIT ?1"
        return try connection.withStatement(sql) { statement in
            try statement.bind(query.rowsMax, at: 1)
            return try statement.rows(while: { $0.int64(at: 4) < query.answersBefore }, key(from:))
        }
    }

    private func bind(_ key: OperationKey, to statement: borrowing Statement) throws {
        try statement.bind(key.database)
        try statement.bind(key.user, key.operationID, at: 3)
    }
}

import SQLite

/// The last known activity of a device in a zone, or with an empty zone in general.
struct HistorySync: Sendable {
    struct Key: Hashable, Sendable {
        var container: String
        var environment: String
        var user: String
        var session: String
        var database = ""
        var zone = ""
    }

    var key: Key
    var lastMilliseconds: Int64
    var client: String?
    var address: String?
    var errorCode: String?
    var errorID: String?
    var errorMilliseconds: Int64?
    var fetchMilliseconds: Int64?
    var fetchedTo: Int64?
    /// The error code of the last fetch, such as `expired` or `reset` if the token was rejected. Nil if it
    /// succeeded.
    var fetchCode: String?
    var saveMilliseconds: Int64?
    var saveCount: Int64?
    var saveID: String?
    /// The device's own name, for which pushes are stored.
    var device: String?

    init(_ key: Key, at lastMilliseconds: Int64) {
        self.key = key
        self.lastMilliseconds = lastMilliseconds
    }
}

extension HistoryFile {
    private static let syncColumns = """
        container, environment, user, session, database, zone, lastMilliseconds, client, address, errorCode, errorID,
        errorMilliseconds, fetchMilliseconds, fetchedTo, fetchCode, saveMilliseconds, saveCount, saveID, device
        """

    /// Stores the activity of the entries' devices.
    func addSync(of entries: [HistoryEntry]) throws {
        var rows: [HistorySync.Key: HistorySync] = [:]
        for entry in entries { for row in entry.sync { rows[row.key] = rows[row.key]?.with(row) ?? row } }
        for row in rows.values { try upsert(row) }
    }

    private func upsert(_ row: HistorySync) throws {
        // The last fetch replaces its code too. Columns without a new value stay.
        let sql = """
            INSERT INTO sync (\(Self.syncColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET lastMilliseconds = excluded.lastMilliseconds,
            client = coalesce(excluded.client, client), address = coalesce(excluded.address, address),
            errorCode = coalesce(excluded.errorCode, errorCode), errorID = coalesce(excluded.errorID, errorID),
            errorMilliseconds = coalesce(excluded.errorMilliseconds, errorMilliseconds),
            fetchedTo = coalesce(excluded.fetchedTo, fetchedTo),
            fetchCode = CASE WHEN excluded.fetchMilliseconds IS NULL THEN fetchCode ELSE excluded.fetchCode END,
            fetchMilliseconds = coalesce(excluded.fetchMilliseconds, fetchMilliseconds),
            saveMilliseconds = coalesce(excluded.saveMilliseconds, saveMilliseconds),
            saveCount = coalesce(excluded.saveCount, saveCount), saveID = coalesce(excluded.saveID, saveID),
            device = coalesce(excluded.device, device)
            """
        try connection.withStatement(sql) { statement in
            let key = row.key
            let texts: [Int32: String?] = [
                1: key.container, 2: key.environment, 3: key.user, 4: key.session, 5: key.database,
                6: key.zone, 8: row.client, 9: row.address, 10: row.errorCode, 11: row.errorID,
                15: row.fetchCode, 18: row.saveID, 19: row.device,
            ]
            for (index, text) in texts { if let text { try statement.bind(text, at: index) } }
            let numbers: [Int32: Int64?] = [
                7: row.lastMilliseconds, 12: row.errorMilliseconds, 13: row.fetchMilliseconds,
                14: row.fetchedTo, 16: row.saveMilliseconds, 17: row.saveCount,
            ]
            for (index, number) in numbers { if let number { try statement.bind(number, at: index) } }
            try statement.run()
        }
    }

    /// Returns the last known activity of a user's devices, most recent first.
    func sync(container: String, environment: String, user: String, rowsMax: Int) throws -> [HistorySync] {
        let sql = """
            SELECT \(Self.syncColumns) FROM sync WHERE container = ? AND environment = ? AND user = ?
            ORDER BY lastMilliseconds DESC LIMIT ?
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(container, at: 1)
            try statement.bind(environment, at: 2)
            try statement.bind(user, at: 3)
            try statement.bind(rowsMax, at: 4)
            var rows: [HistorySync] = []
            while try statement.step() { rows.append(Self.sync(in: statement)) }
            return rows
        }
    }

    private static func sync(in statement: borrowing Statement) -> HistorySync {
        var row = HistorySync(
            HistorySync.Key(
                container: statement.text(at: 0), environment: statement.text(at: 1),
                user: statement.text(at: 2), session: statement.text(at: 3), database: statement.text(at: 4),
                zone: statement.text(at: 5)), at: statement.int64(at: 6))
        row.client = statement.textIfAny(at: 7)
        row.address = statement.textIfAny(at: 8)
        row.errorCode = statement.textIfAny(at: 9)
        row.errorID = statement.textIfAny(at: 10)
        row.errorMilliseconds = statement.numberIfAny(at: 11)
        row.fetchMilliseconds = statement.numberIfAny(at: 12)
        row.fetchedTo = statement.numberIfAny(at: 13)
        row.fetchCode = statement.textIfAny(at: 14)
        row.saveMilliseconds = statement.numberIfAny(at: 15)
        row.saveCount = statement.numberIfAny(at: 16)
        row.saveID = statement.textIfAny(at: 17)
        row.device = statement.textIfAny(at: 18)
        return row
    }

    /// Returns the users of an environment by their devices' last activity, most recent first.
    ///
    /// - Parameter rowsMax: maximum rows of devices that are read.
    func syncUsers(
        container: String, environment: String, beforeMilliseconds: Int64, rowsMax: Int
    ) throws -> [(user: String, lastMilliseconds: Int64)] {
        let sql = """
            SELECT user, lastMilliseconds FROM sync WHERE zone = '' AND container = ? AND environment = ?
            AND lastMilliseconds < ? ORDER BY lastMilliseconds DESC LIMIT ?
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(container, at: 1)
            try statement.bind(environment, at: 2)
            try statement.bind(beforeMilliseconds, at: 3)
            try statement.bind(rowsMax, at: 4)
            var rows: [(String, Int64)] = []
            while try statement.step() { rows.append((statement.text(at: 0), statement.int64(at: 1))) }
            return rows
        }
    }
}

extension HistorySync {
    /// This activity updated by a later one.
    fileprivate func with(_ later: HistorySync) -> HistorySync {
        var row = later
        row.client = later.client ?? client
        row.address = later.address ?? address
        row.device = later.device ?? device
        if later.errorCode == nil {
            (row.errorCode, row.errorID, row.errorMilliseconds) = (errorCode, errorID, errorMilliseconds)
        }
        row.fetchedTo = later.fetchedTo ?? fetchedTo
        if later.fetchMilliseconds == nil {
            (row.fetchMilliseconds, row.fetchCode) = (fetchMilliseconds, fetchCode)
        }
        if later.saveMilliseconds == nil {
            (row.saveMilliseconds, row.saveCount, row.saveID) = (saveMilliseconds, saveCount, saveID)
        }
        return row
    }
}

extension Statement {
    func textIfAny(at column: Int32) -> String? { isNull(at: column) ? nil : text(at: column) }
    func numberIfAny(at column: Int32) -> Int64? { isNull(at: column) ? nil : int64(at: column) }
}

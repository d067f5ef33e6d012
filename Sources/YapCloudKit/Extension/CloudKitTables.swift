internal import CloudKit
internal import CloudWire
internal import SQLite

/// The extension's tables, and the statements on them. All of it runs in the app's own transaction.
struct CloudKitTables {
    let name: String
    let sqlite: Connection

    static func tableNames(_ name: String) -> [String] {
        ["record", "mapping", "changeset", "change", "token", "stash", "log", "subscription", "user"].map {
            "cloudKit_\($0)_\(name)"
        }
    }

    /// A table's name as it stands in SQL.
    func table(_ kind: String) -> String { quoted("cloudKit_\(kind)_\(name)") }

    private func quoted(_ identifier: String) -> String {
        "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }

    /// Creates the tables. Index names carry the registered name, so that two registrations in one file each
    /// have their own.
    func create() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("record")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, database TEXT NOT NULL, zone_owner TEXT NOT NULL,
                zone_name TEXT NOT NULL, record_name TEXT NOT NULL, generation INTEGER NOT NULL,
                record_type TEXT NOT NULL, change_tag TEXT, system BLOB NOT NULL, owner_count INTEGER NOT NULL,
                wants_deletion INTEGER NOT NULL, unseen INTEGER NOT NULL,
                UNIQUE (database, zone_owner, zone_name, record_name, generation));
            CREATE TABLE \(table("mapping")) (rowid INTEGER PRIMARY KEY, record INTEGER NOT NULL);
            CREATE INDEX \(quoted("cloudKit_mapping_\(name)_record")) ON \(table("mapping")) (record);
            CREATE TABLE \(table("changeset")) (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL, database TEXT NOT NULL);
            CREATE TABLE \(table("change")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, sequence INTEGER NOT NULL, record INTEGER NOT NULL,
                kind INTEGER NOT NULL, fields BLOB NOT NULL, originals BLOB NOT NULL, refusal INTEGER,
                UNIQUE (sequence, record));
            CREATE INDEX \(quoted("cloudKit_change_\(name)_record")) ON \(table("change")) (record);
            CREATE TABLE \(table("token")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL, token TEXT,
                full_fetch TEXT, PRIMARY KEY (database, zone_owner, zone_name)) WITHOUT ROWID;
            CREATE TABLE \(table("stash")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, record_type TEXT NOT NULL, change_tag TEXT, system BLOB NOT NULL,
                fields BLOB NOT NULL, PRIMARY KEY (database, zone_owner, zone_name, record_name)) WITHOUT ROWID;
            CREATE TABLE \(table("log")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, field TEXT, rule TEXT NOT NULL, field_values BLOB NOT NULL);
            """)
        try createSubscriptions()
    }

    /// Since version 2: which databases of the cloud were told that this user's devices want to hear of changes,
    /// and whose changes are in the queue.
    func createSubscriptions() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("subscription")) (
                database TEXT PRIMARY KEY, subscription_id TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS \(table("user")) (
                database TEXT PRIMARY KEY, user_record_name TEXT NOT NULL) WITHOUT ROWID;
            """)
    }

    // MARK: Running statements

    /// Binds the values in their order and runs to the end.
    func run(_ sql: String, _ values: [SQLValue] = []) throws {
        try sqlite.withStatement(sql) { statement in
            try bind(values, to: statement)
            try statement.run()
        }
    }

    /// Binds the values in their order and reads each row.
    func rows<Row>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        try sqlite.withStatement(sql) { statement in
            try bind(values, to: statement)
            var rows: [Row] = []
            while try statement.step() { rows.append(try read(statement)) }
            return rows
        }
    }

    /// The first row.
    func first<Row>(
        _ sql: String, _ values: [SQLValue] = [], _ read: (borrowing Statement) throws -> Row
    ) throws -> Row? {
        try sqlite.withStatement(sql) { statement in
            try bind(values, to: statement)
            return try statement.step() ? try read(statement) : nil
        }
    }

    private func bind(_ values: [SQLValue], to statement: borrowing Statement) throws {
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .integer(let value): try statement.bind(value, at: position)
            case .text(let value): try statement.bind(value, at: position)
            case .blob(let value): try statement.bind(value, at: position)
            case .null: try statement.bindNull(at: position)
            }
        }
    }
}

/// What a statement's placeholder can stand for.
enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

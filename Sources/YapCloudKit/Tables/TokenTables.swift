internal import CloudKit
internal import SQLite

/// Owns `token` and `unread`: the change token of each zone, and the records that were fetched with fields which this
/// version of the app doesn't store. A later version fetches only these records again.
struct TokenTables: SyncTable {
    let statements: SyncStatements

    func token(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT token FROM \(table("token")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
            zone(zoneID, database)
        ) { $0.isNull(at: 0) ? nil : $0.text(at: 0) } ?? nil
    }

    /// Whether each zone of a database has a token.
    func hasToken(_ database: DatabaseKey) throws -> Bool {
        try first(
            "SELECT count(token) > 0 AND count(token) = count(*) FROM \(table("token")) WHERE database = ?1",
            [.text(database.column)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Whether the zone was fetched, and isn't being fetched in full.
    func isFetched(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> Bool {
        try first(
            """
            SELECT token IS NOT NULL AND full_fetch IS NULL FROM \(table("token"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database)
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    func setToken(_ token: String?, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        if token != nil, try self.token(zoneID, database) == nil {
            // A fetch from the beginning reports no deletions: a record that was sent before it may be deleted
            // unnoticed.
            try QueueTables(statements: statements).restartWrites(in: database)
        }
        // From the first page on, each record that has unread fields is noted.
        try run(
            """
            INSERT INTO \(table("token")) (database, zone_owner, zone_name, token, is_unread_complete)
            VALUES (?1, ?2, ?3, ?4, 1)
            ON CONFLICT DO UPDATE SET token = excluded.token,
                is_unread_complete = is_unread_complete OR token IS NULL
            """, zone(zoneID, database) + [SQLValue(token)])
    }

    /// Reason for the full fetch of a zone that is under way, or nil if there is none.
    func fullFetch(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> FullFetchReason? {
        let text =
            try first(
                "SELECT full_fetch FROM \(table("token")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
                zone(zoneID, database)
            ) { $0.isNull(at: 0) ? nil : $0.text(at: 0) } ?? nil
        return text.flatMap { FullFetchReason(rawValue: $0) }
    }

    func setFullFetch(
        _ reason: FullFetchReason?, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey
    ) throws {
        try run(
            """
            UPDATE \(table("token")) SET full_fetch = ?4
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database) + [SQLValue(reason?.rawValue)])
    }

    /// Since version 5.
    func createUnreadFields() throws {
        try sqlite.execute(
            """
            ALTER TABLE \(table("token")) ADD COLUMN is_unread_complete INTEGER NOT NULL DEFAULT 0;
            CREATE TABLE \(table("unread")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, is_wanted INTEGER NOT NULL,
                PRIMARY KEY (database, zone_owner, zone_name, record_name)) WITHOUT ROWID;
            """)
    }

    /// Creates an index of the wanted records. Each page takes the first of them, among many that are only noted.
    func indexWanted() throws {
        try sqlite.execute(
            """
            CREATE INDEX IF NOT EXISTS \(quoted("cloudKit_unread_\(name)_wanted"))
            ON \(table("unread")) (database, zone_owner, zone_name, record_name) WHERE is_wanted = 1;
            """)
    }

    /// Notes that a fetched record has unread fields.
    func noteUnreadFields(of recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        try run(
            "INSERT OR IGNORE INTO \(table("unread")) VALUES (?1, ?2, ?3, ?4, 0)",
            identity(recordID, database))
    }

    func forgetUnreadFields(of recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        try deleteRow(of: recordID, database, from: "unread")
    }

    func forgetUnreadFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try deleteRows(of: zoneID, database, from: "unread")
    }

    /// Whether every record of the zone that has unread fields is noted, and nothing else makes the zone be fetched in
    /// full.
    func knowsUnreadFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> Bool {
        try first(
            """
            SELECT token IS NOT NULL AND is_unread_complete AND (full_fetch IS NULL OR full_fetch = ?4)
            FROM \(table("token")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database) + [.text(FullFetchReason.newFields.rawValue)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Marks all records of a zone that have unread fields as wanted. Returns whether there is one.
    func wantUnreadFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> Bool {
        try run(
            """
            UPDATE \(table("unread")) SET is_wanted = 1
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database))
        return try !wantedRecords(zoneID, database, limit: 1).isEmpty
    }

    /// The records that have to be fetched for their unread fields.
    func wantedRecords(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, limit: Int
    ) throws -> [CKRecord.ID] {
        try rows(
            """
            SELECT record_name FROM \(table("unread"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND is_wanted = 1
            ORDER BY record_name LIMIT ?4
            """, zone(zoneID, database) + [.integer(Int64(limit))]
        ) { CKRecord.ID(recordName: $0.text(at: 0), zoneID: zoneID) }
    }
}

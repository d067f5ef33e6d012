internal import CloudKit
internal import CloudWire
internal import SQLite

extension CloudKitTables {
    /// A record of a type that the app doesn't know yet.
    struct StashedRecord {
        var database: DatabaseKey
        var record: CKRecord
    }

    // MARK: Tokens

    func token(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT token FROM \(table("token")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
            zone(zoneID, database)
        ) { $0.isNull(at: 0) ? nil : $0.text(at: 0) } ?? nil
    }

    /// Whether the fetch of each zone of a database goes on from a token.
    func hasToken(_ database: DatabaseKey) throws -> Bool {
        try first(
            "SELECT count(token) > 0 AND count(token) = count(*) FROM \(table("token")) WHERE database = ?1",
            [.text(database.column)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Whether the zone was fetched from, and isn't being fetched in full.
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
            // A fetch from the beginning tells no deletions: what was sent before it may be gone without a word.
            try restartWrites(in: database)
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

    /// Why everything in the zone is being fetched again, as long as that goes on.
    func fullFetch(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> TokenRefusal? {
        let text =
            try first(
                "SELECT full_fetch FROM \(table("token")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
                zone(zoneID, database)
            ) { $0.isNull(at: 0) ? nil : $0.text(at: 0) } ?? nil
        return text.flatMap { TokenRefusal(rawValue: $0) }
    }

    func setFullFetch(
        _ refusal: TokenRefusal?, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey
    ) throws {
        try run(
            """
            UPDATE \(table("token")) SET full_fetch = ?4
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database) + [SQLValue(refusal?.rawValue)])
    }

    /// Whether any zone was fetched from, or a version of any record is known.
    func hasFetched() throws -> Bool {
        try first(
            """
            SELECT 1 FROM \(table("token")) WHERE token IS NOT NULL OR full_fetch IS NOT NULL
            UNION ALL SELECT 1 FROM \(table("record")) WHERE change_tag IS NOT NULL LIMIT 1
            """
        ) { _ in true } ?? false
    }

    /// The zones that were fetched from, or of which a version of a record is known, with their databases.
    func knownZones() throws -> [(zoneID: CKRecordZone.ID, database: DatabaseKey)] {
        try rows(
            """
            SELECT database, zone_owner, zone_name FROM \(table("token"))
            WHERE token IS NOT NULL OR full_fetch IS NOT NULL
            UNION SELECT database, zone_owner, zone_name FROM \(table("record")) WHERE change_tag IS NOT NULL
            ORDER BY database, zone_owner, zone_name
            """
        ) {
            (
                CKRecordZone.ID(zoneName: $0.text(at: 2), ownerName: $0.text(at: 1)),
                DatabaseKey(column: $0.text(at: 0))
            )
        }
    }

    // MARK: Subscriptions

    /// The subscription that was saved in a database of the cloud.
    func subscriptionID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT subscription_id FROM \(table("subscription")) WHERE database = ?1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Keeps which subscription was saved; nil forgets it.
    func setSubscriptionID(_ subscriptionID: String?, _ database: DatabaseKey) throws {
        guard let subscriptionID else {
            return try run(
                "DELETE FROM \(table("subscription")) WHERE database = ?1", [.text(database.column)])
        }
        try run(
            "INSERT OR REPLACE INTO \(table("subscription")) (database, subscription_id) VALUES (?1, ?2)",
            [.text(database.column), .text(subscriptionID)])
    }

    // MARK: Records of unknown types

    func stash(_ record: CKRecord, _ database: DatabaseKey) throws {
        try run(
            """
            INSERT OR REPLACE INTO \(table("stash"))
                (database, zone_owner, zone_name, record_name, record_type, change_tag, system, fields)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            zone(record.recordID.zoneID, database) + [
                .text(record.recordID.recordName), .text(record.recordType), SQLValue(record.recordChangeTag),
                .blob(try record.systemBytes()), .blob(FieldsBinary.encode(try record.allFields())),
            ])
    }

    func removeFromStash(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        try run(
            """
            DELETE FROM \(table("stash"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4
            """, zone(recordID.zoneID, database) + [.text(recordID.recordName)])
    }

    func clearStash(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try run(
            "DELETE FROM \(table("stash")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
            zone(zoneID, database))
    }

    /// Forgets which versions are kept: what the server still has comes again with its tag.
    func forgetTagsOfStash(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("stash")) SET change_tag = NULL
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database))
    }

    func stashed(ofType recordType: String) throws -> [StashedRecord] {
        try rows(
            """
            SELECT database, zone_owner, zone_name, record_name, record_type, change_tag, system, fields
            FROM \(table("stash")) WHERE record_type = ?1
            ORDER BY database, zone_owner, zone_name, record_name
            """, [.text(recordType)]
        ) { statement in
            let zone = CKRecordZone.ID(zoneName: statement.text(at: 2), ownerName: statement.text(at: 1))
            let record = try CKRecord.restored(
                type: statement.text(at: 4),
                recordID: CKRecord.ID(recordName: statement.text(at: 3), zoneID: zone),
                changeTag: statement.isNull(at: 5) ? nil : statement.text(at: 5),
                system: statement.bytes(at: 6))
            record.setFields(try FieldsBinary.decode(statement.bytes(at: 7)))
            return StashedRecord(database: DatabaseKey(column: statement.text(at: 0)), record: record)
        }
    }
}

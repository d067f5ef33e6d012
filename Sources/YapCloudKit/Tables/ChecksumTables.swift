internal import CloudKit
internal import CloudWire
internal import SQLite

/// Owns `checksum` and `known`: what each record adds to its zone's checksum, and the sum, as the zone's change feed
/// gave them. The part of a record with a row is in that row.
///
/// Only a page of changes alters the sum, in the transaction that stores the page's token. So the sum belongs to the
/// token: uploads, lost responses and stashed records do not change it. After the last page it must equal the server's.
struct ChecksumTables: SyncTable {
    let statements: SyncStatements
    private var records: MappingTables { MappingTables(statements: statements) }

    /// Since version 4. The part of a record without a row is in a table of its own. A trigger moves it there, so
    /// every statement that deletes a record row keeps the sum right.
    func createChecksums() throws {
        try sqlite.execute(
            """
            ALTER TABLE \(table("changeset")) ADD COLUMN judgements INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE \(table("record")) ADD COLUMN identity INTEGER;
            ALTER TABLE \(table("record")) ADD COLUMN content INTEGER;
            ALTER TABLE \(table("record")) ADD COLUMN row_hash INTEGER;
            CREATE TABLE \(table("known")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                record_name TEXT NOT NULL, identity INTEGER NOT NULL, content INTEGER NOT NULL,
                PRIMARY KEY (database, zone_owner, zone_name, record_name)) WITHOUT ROWID;
            CREATE TABLE \(table("checksum")) (
                database TEXT NOT NULL, zone_owner TEXT NOT NULL, zone_name TEXT NOT NULL,
                identities INTEGER, contents INTEGER, verified TEXT NOT NULL DEFAULT '',
                differences INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
                retry_milliseconds INTEGER NOT NULL DEFAULT 0, differs INTEGER NOT NULL DEFAULT 0,
                PRIMARY KEY (database, zone_owner, zone_name)) WITHOUT ROWID;
            CREATE TRIGGER \(quoted("cloudKit_known_\(name)_record_delete")) AFTER DELETE ON \(table("record"))
                WHEN OLD.identity IS NOT NULL BEGIN
                INSERT OR REPLACE INTO \(table("known")) VALUES (
                    OLD.database, OLD.zone_owner, OLD.zone_name, OLD.record_name, OLD.identity, OLD.content);
                END;
            CREATE TRIGGER \(quoted("cloudKit_row_hash_\(name)_change_insert")) AFTER INSERT ON \(table("change")) BEGIN
                UPDATE \(table("record")) SET row_hash = NULL WHERE id = NEW.record AND row_hash IS NOT NULL; END;
            """)
    }

    /// Sum of a zone's records on this device, or nil if some record isn't counted.
    func checksum(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> ZoneChecksum? {
        try first(
            """
            SELECT identities, contents FROM \(table("checksum"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database)
        ) { ZoneChecksum($0, at: 0) } ?? nil
    }

    func setChecksum(
        _ checksum: ZoneChecksum?, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey
    ) throws {
        try run(
            """
            INSERT INTO \(table("checksum")) (database, zone_owner, zone_name, identities, contents)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET identities = excluded.identities, contents = excluded.contents
            """, zone(zoneID, database) + ZoneChecksum.columns(of: checksum))
    }

    /// Removes the parts of all records of a zone. A fetch without a token counts them again.
    func forgetParts(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try records.forgetParts(zoneID, database)
        try deleteRows(of: zoneID, database, from: "known")
    }

    /// Returns true if records without a row have a part.
    func hasKnown(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> Bool {
        try first(
            """
            SELECT 1 FROM \(table("known")) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 LIMIT 1
            """, zone(zoneID, database)
        ) { _ in true } ?? false
    }

    /// Removes the part of a record without a row.
    func removeKnown(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws -> ZoneChecksum? {
        try first(
            """
            DELETE FROM \(table("known"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4
            RETURNING identity, content
            """, identity(recordID, database)
        ) { ZoneChecksum($0, at: 0) } ?? nil
    }

    /// Replaces the part of a record. One of the record's incarnations has it.
    /// - Parameter new: The new part; nil removes it.
    /// - Returns: The part that the record had.
    func replacePart(
        _ new: ZoneChecksum?, of recordID: CKRecord.ID, type: String, _ database: DatabaseKey
    ) throws -> ZoneChecksum? {
        let holder = try records.partHolder(of: recordID, database)
        let old = try holder?.part ?? removeKnown(recordID, database)
        if let holder {
            guard new != nil || holder.part != nil else { return old }
            try records.setPart(new, of: holder.id, type: type)
        } else if new != nil {
            try run(
                "INSERT INTO \(table("known")) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                identity(recordID, database) + ZoneChecksum.columns(of: new))
        }
        return old
    }

    /// Results of the comparisons of a zone so far.
    struct Differences {
        /// Number of differences.
        var count: Int64 = 0
        /// Number of full fetches since it was last equal.
        var attempts: Int64 = 0
        /// Earliest time of the next full fetch.
        var retryMilliseconds: Int64 = 0
        /// Whether it differed at the last comparison, and no full fetch is under way for that.
        var differs = false
    }

    func differences(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> Differences {
        try first(
            """
            SELECT differences, attempts, retry_milliseconds, differs FROM \(table("checksum"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database)
        ) {
            Differences(
                count: $0.int64(at: 0), attempts: $0.int64(at: 1), retryMilliseconds: $0.int64(at: 2),
                differs: $0.int64(at: 3) != 0)
        } ?? Differences()
    }

    func setDifferences(
        _ found: Differences, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey
    ) throws {
        try run(
            """
            UPDATE \(table("checksum"))
            SET differences = ?4, attempts = ?5, retry_milliseconds = ?6, differs = ?7
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """,
            zone(zoneID, database) + [
                .integer(found.count), .integer(found.attempts), .integer(found.retryMilliseconds),
                .integer(found.differs ? 1 : 0),
            ])
    }

    /// Returns the zones of a database that still differ from the server's after they were fetched again.
    func zonesThatDiffer(_ database: DatabaseKey) throws -> [CloudSyncProblem] {
        try rows(
            "SELECT zone_name FROM \(table("checksum")) WHERE database = ?1 AND differs <> 0 ORDER BY zone_name",
            [.text(database.column)]
        ) { .zoneDiffers(zoneName: $0.text(at: 0)) }
    }

    /// Returns the number of differences of all zones.
    func differencesCount() throws -> Int {
        try first("SELECT total(differences) FROM \(table("checksum"))") { Int($0.int64(at: 0)) } ?? 0
    }

    /// Next records of a zone without pending changes. Begins again after the last one.
    func nextRowsToVerify(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, rowsMax: Int
    ) throws -> [VerifiedRow] {
        let last =
            try first(
                """
                SELECT verified FROM \(table("checksum"))
                WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
                """, zone(zoneID, database)
            ) { $0.text(at: 0) } ?? ""
        var found = try records.rowsToVerify(zoneID, database, after: last, rowsMax: rowsMax)
        if found.count < rowsMax, !last.isEmpty {
            found += try records.rowsToVerify(zoneID, database, after: "", rowsMax: rowsMax - found.count)
        }
        try run(
            """
            UPDATE \(table("checksum")) SET verified = ?4
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3
            """, zone(zoneID, database) + [.text(found.last?.recordID.recordName ?? "")])
        return found
    }
}

extension ZoneChecksum {
    /// Returns a part or a sum as it is stored, in two columns.
    static func columns(of part: ZoneChecksum?) -> [SQLValue] {
        guard let part else { return [.null, .null] }
        return [
            .integer(Int64(bitPattern: part.identities)), .integer(Int64(bitPattern: part.contents)),
        ]
    }

    /// Reads what `columns(of:)` made.
    init?(_ statement: borrowing Statement, at column: Int32) {
        guard !statement.isNull(at: column) else { return nil }
        self.init(
            identities: UInt64(bitPattern: statement.int64(at: column)),
            contents: UInt64(bitPattern: statement.int64(at: column + 1)))
    }
}

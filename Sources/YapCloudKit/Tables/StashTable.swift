internal import CloudKit
internal import CloudWire
internal import SQLite

/// Owns `stash`: fetched records of types that the app doesn't know yet.
struct StashTable: SyncTable {
    /// Record of a type that the app doesn't know yet.
    struct StashedRecord {
        var database: DatabaseKey
        var record: CKRecord
    }

    let statements: SyncStatements

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
        try deleteRow(of: recordID, database, from: "stash")
    }

    func clearStash(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try deleteRows(of: zoneID, database, from: "stash")
    }

    /// Deletes the tags of a zone's records. Those that the server still has are fetched again with their tags.
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

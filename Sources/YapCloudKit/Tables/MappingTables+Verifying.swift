internal import CloudKit
internal import CloudWire
internal import SQLite

/// Hashes of rows and parts of zone sums, to find rows that were changed without the sync.
extension MappingTables {
    /// Tag that no server returns: a save with it is a conflict, and a fetched record is no echo.
    private static let distrustedTag = "?"

    /// Makes the next fetched version of the record count as a change.
    func distrust(_ id: Int64) throws {
        try run(
            "UPDATE \(table("record")) SET change_tag = '\(Self.distrustedTag)', row_hash = NULL WHERE id = ?1",
            [.integer(id)])
    }

    /// Deletes all hashes: another version of the app returns other fields for the same row.
    func forgetRowHashes() throws {
        try run("UPDATE \(table("record")) SET row_hash = NULL WHERE row_hash IS NOT NULL")
    }

    func setRowHash(_ hash: Int64, of id: Int64) throws {
        try run("UPDATE \(table("record")) SET row_hash = ?2 WHERE id = ?1", [.integer(id), .integer(hash)])
    }

    func ownerToVerify(of record: Int64) throws -> (rowID: Int64, nameHash: Int64?)? {
        try first(
            "SELECT rowid, name_hash FROM \(table("mapping")) WHERE record = ?1", [.integer(record)]
        ) { ($0.int64(at: 0), $0.isNull(at: 1) ? nil : $0.int64(at: 1)) }
    }

    /// Returns records of a zone that are in its sum and have no pending changes.
    func rowsToVerify(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, after name: String, rowsMax: Int
    ) throws -> [VerifiedRow] {
        try rows(
            """
            SELECT id, record_name, record_type, change_tag, owner_count, identity, row_hash
            FROM \(table("record")) AS r
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name > ?4
            AND identity IS NOT NULL
            AND NOT \(queue.hasChanges(ofRecord: "r.id"))
            ORDER BY record_name, generation LIMIT ?5
            """, zone(zoneID, database) + [.text(name), .integer(Int64(rowsMax))]
        ) {
            VerifiedRow(
                id: $0.int64(at: 0), recordID: CKRecord.ID(recordName: $0.text(at: 1), zoneID: zoneID),
                recordType: $0.text(at: 2), changeTag: $0.isNull(at: 3) ? nil : $0.text(at: 3),
                ownerCount: $0.int64(at: 4), identity: UInt64(bitPattern: $0.int64(at: 5)),
                rowHash: $0.isNull(at: 6) ? nil : $0.int64(at: 6))
        }
    }

    // MARK: Parts of the zone's sum

    /// Removes the parts of all records of a zone that have a row.
    func forgetParts(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("record")) SET identity = NULL, content = NULL
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND identity IS NOT NULL
            """, zone(zoneID, database))
    }

    /// Incarnation of a record that has its part, or is to get it.
    func partHolder(
        of recordID: CKRecord.ID, _ database: DatabaseKey
    ) throws -> (id: Int64, part: ZoneChecksum?)? {
        try first(
            """
            SELECT id, identity, content FROM \(table("record"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4
            ORDER BY identity IS NULL, owner_count = 0, generation LIMIT 1
            """, identity(recordID, database)
        ) { (id: $0.int64(at: 0), part: ZoneChecksum($0, at: 1)) }
    }

    /// Stores a record's part, and its type, which may have been changed by hand.
    func setPart(_ part: ZoneChecksum?, of id: Int64, type: String) throws {
        try run(
            """
            UPDATE \(table("record")) SET identity = ?2, content = ?3, row_hash = NULL,
                record_type = CASE WHEN ?2 IS NULL THEN record_type ELSE ?4 END WHERE id = ?1
            """, [.integer(id)] + ZoneChecksum.columns(of: part) + [.text(type)])
    }
}

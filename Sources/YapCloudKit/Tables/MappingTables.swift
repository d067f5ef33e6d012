internal import CloudKit
internal import CloudWire
internal import SQLite

/// Owns `record` and `mapping`: the incarnations of records, and the app's rows that stand for them.
struct MappingTables: SyncTable {
    let statements: SyncStatements
    var queue: QueueTables { QueueTables(statements: statements) }
    /// Name of the table, for statements of other owners that read a change together with its record.
    var recordTable: String { table("record") }

    private static let recordColumns = """
        id, database, zone_owner, zone_name, record_name, generation, record_type, change_tag, system, \
        owner_count, wants_deletion
        """

    private func readRecord(_ statement: borrowing Statement) -> RecordRow {
        let zone = texts.zone(name: statement.text(at: 3), owner: statement.text(at: 2))
        return RecordRow(
            id: statement.int64(at: 0), database: texts.database(statement.text(at: 1)),
            recordID: CKRecord.ID(recordName: statement.text(at: 4), zoneID: zone),
            generation: statement.int64(at: 5), recordType: statement.text(at: 6),
            changeTag: statement.isNull(at: 7) ? nil : statement.text(at: 7), system: statement.bytes(at: 8),
            ownerCount: statement.int64(at: 9), wantsDeletion: statement.int64(at: 10) != 0)
    }

    /// Returns all incarnations of a record, oldest first.
    func records(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws -> [RecordRow] {
        try rows(
            """
            SELECT \(Self.recordColumns) FROM \(table("record"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4 ORDER BY generation
            """, identity(recordID, database), readRecord)
    }

    /// Incarnation of a record that rows of the app stand for now.
    func liveRecord(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws -> RecordRow? {
        try records(recordID, database).last { $0.ownerCount > 0 }
    }

    func record(id: Int64) throws -> RecordRow? {
        try first(
            "SELECT \(Self.recordColumns) FROM \(table("record")) WHERE id = ?1", [.integer(id)], readRecord)
    }

    /// Selects the number of the record that a row of the app stands for.
    func selectRecord(ownedBy rowID: String) -> String {
        "SELECT record FROM \(table("mapping")) WHERE rowid = \(rowID)"
    }

    /// Record that a row of the app stands for.
    func record(ownedBy rowID: Int64) throws -> RecordRow? {
        try first(
            """
            SELECT \(Self.recordColumns) FROM \(table("mapping")) AS m JOIN \(table("record")) AS r ON r.id = m.record
            WHERE m.rowid = ?1
            """, [.integer(rowID)], readRecord)
    }

    /// Adds an incarnation of a record that one row stands for.
    func insertOwnedRecord(
        _ record: CKRecord, _ database: DatabaseKey, generation: Int64, counts part: ZoneChecksum? = nil
    ) throws -> RecordRow {
        let changeTag = record.recordChangeTag
        let system = try record.systemBytes()
        try run(
            """
            INSERT INTO \(table("record")) (database, zone_owner, zone_name, record_name, generation, record_type,
                change_tag, system, owner_count, wants_deletion, unseen, identity, content)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, 0, 0, ?9, ?10)
            """,
            identity(record.recordID, database)
                + [.integer(generation), .text(record.recordType), SQLValue(changeTag), .blob(system)]
                + ZoneChecksum.columns(of: part))
        return RecordRow(
            id: sqlite.lastInsertRowID, database: database, recordID: record.recordID, generation: generation,
            recordType: record.recordType, changeTag: changeTag, system: system, ownerCount: 1,
            wantsDeletion: false)
    }

    /// Stores the fields of a record's row that may change.
    func updateRecord(_ row: RecordRow) throws {
        try run(
            """
            UPDATE \(table("record")) SET change_tag = ?2, system = ?3, owner_count = ?4, wants_deletion = ?5,
                row_hash = CASE WHEN change_tag IS ?2 THEN row_hash END
            WHERE id = ?1
            """,
            [
                .integer(row.id), SQLValue(row.changeTag), .blob(row.system), .integer(row.ownerCount),
                .integer(row.wantsDeletion ? 1 : 0),
            ])
    }

    /// Deletes a record's row if no row of the app and no change refers to it.
    func removeRecordIfUnused(_ id: Int64) throws {
        try run(
            """
            DELETE FROM \(table("record")) WHERE id = ?1 AND owner_count = 0
            AND NOT \(queue.hasChanges(ofRecord: "?1"))
            """, [.integer(id)])
    }

    /// - Parameter nameHash: Hash of the row's collection and key, because another row may have its rowid later.
    func map(_ rowID: Int64, _ nameHash: Int64, to record: Int64) throws {
        try run(
            "INSERT OR REPLACE INTO \(table("mapping")) (rowid, record, name_hash) VALUES (?1, ?2, ?3)",
            [.integer(rowID), .integer(record), .integer(nameHash)])
    }

    /// Returns true if a row of this name stands for a record.
    func isOwner(_ rowID: Int64, _ nameHash: Int64, of record: Int64) throws -> Bool {
        try first(
            "SELECT 1 FROM \(table("mapping")) WHERE rowid = ?1 AND record = ?2 AND ifnull(name_hash, ?3) = ?3",
            [.integer(rowID), .integer(record), .integer(nameHash)]
        ) { _ in true } ?? false
    }

    func unmap(_ rowID: Int64) throws {
        try run("DELETE FROM \(table("mapping")) WHERE rowid = ?1", [.integer(rowID)])
    }

    func owners(of record: Int64) throws -> [Int64] {
        try rows("SELECT rowid FROM \(table("mapping")) WHERE record = ?1 ORDER BY rowid", [.integer(record)])
        {
            $0.int64(at: 0)
        }
    }

    /// Returns all owners of all records, in the order of their rows, each with the hash of its name if that is
    /// known.
    func mappedRows() throws -> [(rowID: Int64, nameHash: Int64?)] {
        try rows("SELECT rowid, name_hash FROM \(table("mapping")) ORDER BY rowid") {
            ($0.int64(at: 0), $0.isNull(at: 1) ? nil : $0.int64(at: 1))
        }
    }

    func unmapAll() throws {
        try run("DELETE FROM \(table("mapping"))")
    }

    /// Returns a page of the records that rows stand for, in their order.
    func ownedRecords(after id: Int64, limit: Int) throws -> [RecordRow] {
        try rows(
            """
            SELECT \(Self.recordColumns) FROM \(table("record")) WHERE id > ?1 AND owner_count > 0
            ORDER BY id LIMIT ?2
            """, [.integer(id), .integer(Int64(limit))], readRecord)
    }

    /// Removes all owners, and deletes records without a change.
    func removeAllMappings() throws {
        try unmapAll()
        try run("UPDATE \(table("record")) SET owner_count = 0")
        try run(
            """
            DELETE FROM \(table("record")) WHERE NOT \(queue.hasChanges(ofRecord: "\(table("record")).id"))
            """)
    }

    func markAllUnseen(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("record")) SET unseen = 1 WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
            zone(zoneID, database))
    }

    func markUnseen(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("record")) SET unseen = 1
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4
            """, identity(recordID, database))
    }

    func markSeen(_ recordID: CKRecord.ID, _ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("record")) SET unseen = 0
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4 AND unseen = 1
            """, identity(recordID, database))
    }

    func unseenRecords(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws -> [RecordRow] {
        try rows(
            """
            SELECT \(Self.recordColumns) FROM \(table("record"))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND unseen = 1 ORDER BY id
            """, zone(zoneID, database), readRecord)
    }

    /// Returns the numbers of all records of a user with, or without, rows of the app.
    func recordRows(_ database: DatabaseKey, hasOwners: Bool) throws -> [Int64] {
        try rows(
            "SELECT id FROM \(table("record")) WHERE database = ?1 AND (owner_count > 0) = ?2 ORDER BY id",
            [.text(database.column), .integer(hasOwners ? 1 : 0)]
        ) { $0.int64(at: 0) }
    }

    /// Returns the numbers of all records of a zone, oldest first.
    func recordRows(inZoneNamed zoneName: String, _ database: DatabaseKey) throws -> [Int64] {
        try rows(
            "SELECT id FROM \(table("record")) WHERE database = ?1 AND zone_name = ?2 ORDER BY id",
            [.text(database.column), .text(zoneName)]
        ) { $0.int64(at: 0) }
    }
}

internal import CloudKit
internal import CloudWire
internal import SQLite

/// What merges decided, until it was handed to the app: a crash between a merge and the app's hearing of it
/// doesn't make a dropped value vanish unseen.
extension CloudKitTables {
    /// The most entries kept for an app that doesn't listen.
    static let logEntriesMax: Int64 = 10_000

    private static let droppedKey = "dropped"
    private static let keptKey = "kept"

    /// Stores an entry and gives it its number.
    func insert(_ entry: inout CloudMergeLogEntry) throws {
        let fields = [
            Self.droppedKey: Field(value: entry.droppedValue, type: entry.droppedValue?.type),
            Self.keptKey: Field(value: entry.keptValue, type: entry.keptValue?.type),
        ]
        let zoneID = entry.recordID.zoneID
        try run(
            """
            INSERT INTO \(table("log")) (zone_owner, zone_name, record_name, field, rule, field_values)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .text(zoneID.ownerName), .text(zoneID.zoneName), .text(entry.recordID.recordName),
                SQLValue(entry.field), .text(entry.rule.rawValue), .blob(FieldsBinary.encode(fields)),
            ])
        entry.id = sqlite.lastInsertRowID
        if entry.id > Self.logEntriesMax { try removeLogEntries(through: entry.id - Self.logEntriesMax) }
    }

    /// The entries that nobody has heard of yet, as far as is known.
    func logEntries() throws -> [CloudMergeLogEntry] {
        try rows(
            """
            SELECT id, zone_owner, zone_name, record_name, field, rule, field_values FROM \(table("log"))
            ORDER BY id
            """
        ) { statement in
            let zoneID = CKRecordZone.ID(zoneName: statement.text(at: 2), ownerName: statement.text(at: 1))
            let fields = try FieldsBinary.decode(statement.bytes(at: 6))
            guard let rule = CloudMergeLogEntry.Rule(rawValue: statement.text(at: 5)) else {
                throw YapDatabaseCloudKitError.damaged("a merge rule \"\(statement.text(at: 5))\"")
            }
            var entry = CloudMergeLogEntry(
                recordID: CKRecord.ID(recordName: statement.text(at: 3), zoneID: zoneID),
                field: statement.isNull(at: 4) ? nil : statement.text(at: 4), rule: rule,
                droppedValue: fields[Self.droppedKey]?.value, keptValue: fields[Self.keptKey]?.value)
            entry.id = statement.int64(at: 0)
            return entry
        }
    }

    func removeLogEntries(through id: Int64) throws {
        try run("DELETE FROM \(table("log")) WHERE id <= ?1", [.integer(id)])
    }
}

internal import CloudKit
internal import CloudWire
internal import SQLite

/// Owns `log`: the decisions of merges that the app has not received yet. A crash between a merge and the delivery of
/// its decisions doesn't lose them.
struct MergeLogTable: SyncTable {
    let statements: SyncStatements

    /// Maximum number of entries kept for an app that doesn't read the log. With `mergeLogValueBytesMax` it limits the
    /// size of the log in the file: 20 MB of values, and the names of their records and fields.
    static let logEntriesMax: Int64 = 10_000

    private static let replacedKey = "dropped"
    private static let keptKey = "kept"
    private static let kindKey = "kind"

    /// Suffix of the key of a value's whole length.
    private static let lengthSuffix = "Length"

    /// Stores an entry and gives it its number.
    func insert(_ entry: inout CloudMergeLogEntry) throws {
        var fields: [String: Field] = [:]
        for (key, value) in [(Self.replacedKey, entry.replacedValue), (Self.keptKey, entry.keptValue)] {
            fields[key] = Field(value: value?.value, type: value?.value.type)
            fields[key + Self.lengthSuffix] = value?.wholeLength.map { Field(.int64(Int64($0))) }
        }
        fields[Self.kindKey] = entry.kind.map { Field(.string($0.rawValue)) }
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

    private static let entryColumns = "id, zone_owner, zone_name, record_name, field, rule, field_values"

    /// Entries that the app may not have received yet, oldest first.
    func logEntries() throws -> [CloudMergeLogEntry] {
        try rows("SELECT \(Self.entryColumns) FROM \(table("log")) ORDER BY id") { try Self.entry($0) }
    }

    /// Returns the newest entries that can be read, the newest first.
    func newestLogEntries(limit: Int) throws -> [CloudMergeLogEntry] {
        try rows(
            "SELECT \(Self.entryColumns) FROM \(table("log")) ORDER BY id DESC LIMIT ?1",
            [.integer(Int64(limit))]
        ) { try? Self.entry($0) }.compactMap { $0 }
    }

    private static func entry(_ statement: borrowing Statement) throws -> CloudMergeLogEntry {
        let zoneID = CKRecordZone.ID(zoneName: statement.text(at: 2), ownerName: statement.text(at: 1))
        let fields = try FieldsBinary.decode(statement.bytes(at: 6))
        guard let rule = CloudMergeLogEntry.Rule(rawValue: statement.text(at: 5)) else {
            throw YapDatabaseCloudKitError.damaged("a merge rule \"\(statement.text(at: 5))\"")
        }
        var entry = CloudMergeLogEntry(
            recordID: CKRecord.ID(recordName: statement.text(at: 3), zoneID: zoneID),
            field: statement.isNull(at: 4) ? nil : statement.text(at: 4), rule: rule,
            kind: text(fields[kindKey]).flatMap { CloudMergeLogEntry.Kind(rawValue: $0) },
            replaced: value(replacedKey, fields), kept: value(keptKey, fields))
        entry.id = statement.int64(at: 0)
        return entry
    }

    /// Returns a value of an entry. Versions that wrote no kind stored whole values.
    private static func value(_ key: String, _ fields: [String: Field]) -> MergeLogValue? {
        guard let value = fields[key]?.value else { return nil }
        guard fields[kindKey] != nil else { return MergeLogValue(value) }
        guard case .int64(let length)? = fields[key + lengthSuffix]?.value else {
            return MergeLogValue(stored: value, wholeLength: nil)
        }
        return MergeLogValue(stored: value, wholeLength: Int(length))
    }

    private static func text(_ field: Field?) -> String? {
        guard case .string(let text)? = field?.value else { return nil }
        return text
    }

    func removeLogEntries(through id: Int64) throws {
        try run("DELETE FROM \(table("log")) WHERE id <= ?1", [.integer(id)])
    }
}

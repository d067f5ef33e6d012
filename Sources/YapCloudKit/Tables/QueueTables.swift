internal import CloudKit
internal import CloudWire
internal import SQLite

/// Owns `changeset`, `change`, `refusal` and `count`: the pending changes, by change-set.
struct QueueTables: SyncTable {
    let statements: SyncStatements
    var records: MappingTables { MappingTables(statements: statements) }
    private var queuedFiles: QueuedFileTable { QueuedFileTable(statements: statements) }

    // Codes of quarantined changes that aren't codes of CloudKit. On the disk they are in the column `refusal`.

    /// Code of a conflict that never settled.
    static let stuckCode: Int64 = -1

    /// Code of values that only a row had, and that can't be restored.
    static let unrestorableCode: Int64 = -2

    /// Code of changes that can't be read.
    static let damagedCode: Int64 = -3

    static let changeColumns = "id, sequence, record, kind, fields, originals, restore, refusal, ordinal"
    static let isInRowsOrQuarantine = "(restore IS NOT NULL OR refusal IS NOT NULL)"

    /// Reads a change. A damaged one is marked as damaged, so that the others can still be read.
    private func readChange(_ statement: borrowing Statement) throws -> ChangeRow {
        let kind = SyncItem.Kind(rawValue: statement.int64(at: 3))
        var change = ChangeRow(
            id: statement.int64(at: 0), sequence: statement.int64(at: 1), record: statement.int64(at: 2),
            kind: kind ?? .save, fields: [:], originals: [:],
            quarantineCode: statement.isNull(at: 7) ? nil : statement.int64(at: 7),
            ordinal: statement.int64(at: 8),
            isDamaged: kind == nil)
        do {
            change.fields = assets.read(try FieldsBinary.decode(statement.bytes(at: 4)))
            change.originals = try FieldsBinary.decode(statement.bytes(at: 5))
            if !statement.isNull(at: 6) { change.restore = try Self.restoredRows(of: statement.bytes(at: 6)) }
        } catch {
            change.isDamaged = true
        }
        return change
    }

    /// Decodes the rows that hold the values of fields. They are stored as integer fields.
    static func restoredRows(of bytes: [UInt8]) throws -> [String: Int64] {
        try FieldsBinary.decode(bytes).mapValues { field in
            guard case .int64(let rowID)? = field.value else {
                throw YapDatabaseCloudKitError.damaged("a change's row is no number")
            }
            return rowID
        }
    }

    private static func value(of restore: [String: Int64]) -> SQLValue {
        restore.isEmpty ? .null : .blob(FieldsBinary.encode(restore.mapValues { Field(.int64($0)) }))
    }

    func change(_ sequence: Int64, _ record: Int64) throws -> ChangeRow? {
        try first(
            "SELECT \(Self.changeColumns) FROM \(table("change")) WHERE sequence = ?1 AND record = ?2",
            [.integer(sequence), .integer(record)], readChange)
    }

    /// Returns all changes of one incarnation of a record, oldest first.
    func changes(of record: Int64) throws -> [ChangeRow] {
        try rows(
            "SELECT \(Self.changeColumns) FROM \(table("change")) WHERE record = ?1 ORDER BY sequence",
            [.integer(record)], readChange)
    }

    func changes(in sequence: Int64) throws -> [ChangeRow] {
        try rows(
            "SELECT \(Self.changeColumns) FROM \(table("change")) WHERE sequence = ?1 ORDER BY ordinal, id",
            [.integer(sequence)], readChange)
    }

    /// Returns changes to send next: those of the oldest change-set that has any that aren't quarantined.
    func head(_ database: DatabaseKey, itemsMax: Int) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change")) WHERE refusal IS NULL AND sequence = (
                SELECT c.sequence FROM \(table("changeset")) AS s JOIN \(table("change")) AS c
                ON c.sequence = s.sequence WHERE s.database = ?1 AND c.refusal IS NULL
                ORDER BY s.sequence LIMIT 1)
            ORDER BY ordinal, id LIMIT ?2
            """, [.text(database.column), .integer(Int64(itemsMax))], readChange)
    }

    /// Deletions that no earlier change of the same record precedes, of the oldest change-set that has any.
    func freeDeletions(
        _ database: DatabaseKey, itemsMax: Int
    ) throws -> [(sequence: Int64, record: Int64)] {
        let change = table("change")
        let isFree = """
            kind = \(SyncItem.Kind.delete.rawValue) AND refusal IS NULL AND NOT EXISTS (
                SELECT 1 FROM \(change) AS e WHERE e.record = c.record AND e.sequence < c.sequence)
            """
        return try rows(
            """
            SELECT c.sequence, c.record FROM \(change) AS c WHERE \(isFree) AND c.sequence = (
                SELECT s.sequence FROM \(table("changeset")) AS s WHERE s.database = ?1 AND EXISTS (
                    SELECT 1 FROM \(change) AS c WHERE c.sequence = s.sequence AND \(isFree))
                ORDER BY s.sequence LIMIT 1)
            ORDER BY c.ordinal, c.id LIMIT ?2
            """, [.text(database.column), .integer(Int64(itemsMax))]
        ) { ($0.int64(at: 0), $0.int64(at: 1)) }
    }

    /// Returns changes of a record that have values in rows only, or that are quarantined. Oldest first.
    func changesInRowsOrQuarantine(of record: Int64) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change")) WHERE record = ?1 AND \(Self.isInRowsOrQuarantine)
            ORDER BY sequence
            """, [.integer(record)], readChange)
    }

    /// Returns changes that have values in a row.
    func changesToRestore(ownedBy rowID: Int64) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change"))
            WHERE record = (\(records.selectRecord(ownedBy: "?1"))) AND restore IS NOT NULL
            ORDER BY sequence
            """, [.integer(rowID)], readChange
        ).filter { $0.restore.values.contains { abs($0) == rowID } }
    }

    /// Returns a page of the changes that have values in rows, in their order.
    func changesToRestore(after id: Int64, limit: Int) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change")) WHERE id > ?1 AND restore IS NOT NULL
            ORDER BY id LIMIT ?2
            """, [.integer(id), .integer(Int64(limit))], readChange)
    }

    /// Returns true if an incarnation of a record has pending changes.
    func hasChanges(_ record: Int64) throws -> Bool {
        try first("SELECT 1 FROM \(table("change")) WHERE record = ?1 LIMIT 1", [.integer(record)]) { _ in
            true
        }
            ?? false
    }

    /// The same as a condition in a statement of another owner.
    func hasChanges(ofRecord record: String) -> String {
        "EXISTS (SELECT 1 FROM \(table("change")) WHERE record = \(record))"
    }

    /// Selects the numbers of all changes.
    var selectChangeIDs: String { "SELECT id FROM \(table("change"))" }

    /// First incarnation of a record with a queued deletion. As long as it is pending, the server's version is of that
    /// incarnation.
    func incarnationToDelete(_ incarnations: [RecordRow]) throws -> RecordRow? {
        try incarnations.first { incarnation in
            try changes(of: incarnation.id).contains { $0.kind == .delete }
        }
    }

    /// - Parameter ordinal: The place in the change-set.
    /// - Returns: The change's number.
    func insertChange(
        _ sequence: Int64, _ record: Int64, _ kind: SyncItem.Kind, fields: [String: Field],
        originals: [String: Field], restore: [String: Int64] = [:], ordinal: Int64
    ) throws -> Int64 {
        try run(
            """
            INSERT INTO \(table("change")) (sequence, record, kind, fields, originals, restore, ordinal)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .integer(sequence), .integer(record), .integer(kind.rawValue),
                .blob(FieldsBinary.encode(assets.stored(fields))), .blob(FieldsBinary.encode(originals)),
                Self.value(of: restore), .integer(ordinal),
            ])
        let id = sqlite.lastInsertRowID
        try queuedFiles.noteAssets(of: id, fields)
        if kind == .save {
            try queuedFiles.noteMissingFiles(of: id, fields, originals: originals, of: record)
        }
        return id
    }

    /// Stores a change's new content. A damaged change stays as it is.
    func updateChange(_ change: ChangeRow) throws {
        guard !change.isDamaged else { return }
        try run(
            "UPDATE \(table("change")) SET kind = ?2, fields = ?3, originals = ?4, restore = ?5 WHERE id = ?1",
            [
                .integer(change.id), .integer(change.kind.rawValue),
                .blob(FieldsBinary.encode(assets.stored(change.fields))),
                .blob(FieldsBinary.encode(change.originals)), Self.value(of: change.restore),
            ])
        try queuedFiles.forgetAssets(of: change.id)
        try queuedFiles.noteAssets(of: change.id, change.fields)
        guard change.kind == .save else { return }
        try queuedFiles.noteMissingFiles(
            of: change.id, change.fields, originals: change.originals, of: change.record)
    }

    func removeChange(_ change: ChangeRow) throws {
        try run("DELETE FROM \(table("change")) WHERE id = ?1", [.integer(change.id)])
        if !change.fields.assets.isEmpty { try queuedFiles.forgetAssets(of: change.id) }
    }
}

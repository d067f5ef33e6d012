internal import CloudKit
internal import CloudWire
internal import SQLite

extension CloudKitTables {
    /// What stands in `refusal` for a conflict that never settled: no code of CloudKit.
    static let stuckRefusal: Int64 = -1

    private static let changeColumns = "id, sequence, record, kind, fields, originals"

    private func readChange(_ statement: borrowing Statement) throws -> ChangeRow {
        ChangeRow(
            id: statement.int64(at: 0), sequence: statement.int64(at: 1), record: statement.int64(at: 2),
            kind: SyncItem.Kind(rawValue: statement.int64(at: 3)) ?? .save,
            fields: try FieldsBinary.decode(statement.bytes(at: 4)),
            originals: try FieldsBinary.decode(statement.bytes(at: 5)))
    }

    // MARK: Change-sets

    func insertChangeSet(uuid: String, _ database: DatabaseKey) throws -> Int64 {
        try run(
            "INSERT INTO \(table("changeset")) (uuid, database) VALUES (?1, ?2)",
            [.text(uuid), .text(database.column)])
        return sqlite.lastInsertRowID
    }

    func removeChangeSetIfEmpty(_ sequence: Int64) throws {
        try run(
            """
            DELETE FROM \(table("changeset")) WHERE sequence = ?1
            AND NOT EXISTS (SELECT 1 FROM \(table("change")) WHERE sequence = ?1)
            """, [.integer(sequence)])
    }

    /// The change-sets of all databases, the oldest first.
    func changeSets() throws -> [(sequence: Int64, uuid: String, database: DatabaseKey)] {
        try rows("SELECT sequence, uuid, database FROM \(table("changeset")) ORDER BY sequence") {
            ($0.int64(at: 0), $0.text(at: 1), DatabaseKey(column: $0.text(at: 2)))
        }
    }

    /// The databases that something waits for.
    func databases() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE changesets > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// How much waits for a database, in constant time.
    func counts(_ database: DatabaseKey) throws -> QueueCount {
        var count =
            try first(
                "SELECT changesets, changes, refused, in_flight FROM \(table("count")) WHERE database = ?1",
                [.text(database.column)]
            ) {
                QueueCount(
                    pending: Int($0.int64(at: 1)), changeSets: Int($0.int64(at: 0)),
                    inFlightChangeSets: Int($0.int64(at: 3)), refusedCount: Int($0.int64(at: 2)))
            } ?? QueueCount()
        if count.refusedCount > 0 { count.refused = try problems(database) }
        return count
    }

    /// The first of the records whose changes were put aside.
    private func problems(_ database: DatabaseKey) throws -> [CloudSyncProblem] {
        try rows(
            """
            SELECT r.record_name, max(c.refusal) FROM \(table("changeset")) AS s
            CROSS JOIN \(table("change")) AS c ON c.sequence = s.sequence AND c.refusal IS NOT NULL
            JOIN \(table("record")) AS r ON r.id = c.record
            WHERE s.database = ?1 AND s.sequence IN
                (SELECT sequence FROM \(table("change")) WHERE refusal IS NOT NULL)
            GROUP BY c.record ORDER BY c.record LIMIT ?2
            """, [.text(database.column), .integer(Int64(QueueCount.refusedListedMax))]
        ) { statement in
            let name = statement.text(at: 0)
            let code = statement.int64(at: 1)
            return code == Self.stuckRefusal
                ? .stuck(recordName: name)
                : .refused(recordName: name, CKError.Code(rawValue: Int(code)) ?? .internalError)
        }
    }

    // MARK: In flight

    /// Says that an operation has changes of a change-set, or that none has any more.
    func setInFlight(_ sequence: Int64, _ isInFlight: Bool) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = ?2 WHERE sequence = ?1 AND in_flight <> ?2",
            [.integer(sequence), .integer(isInFlight ? 1 : 0)])
    }

    /// Nothing of a database is in flight any more.
    func clearInFlight(_ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = 0 WHERE database = ?1 AND in_flight <> 0",
            [.text(database.column)])
    }

    /// Nothing is in flight any more: whoever had it is gone.
    func clearAllInFlight() throws {
        try run("UPDATE \(table("changeset")) SET in_flight = 0 WHERE in_flight <> 0")
    }

    // MARK: Changes

    func change(_ sequence: Int64, _ record: Int64) throws -> ChangeRow? {
        try first(
            "SELECT \(Self.changeColumns) FROM \(table("change")) WHERE sequence = ?1 AND record = ?2",
            [.integer(sequence), .integer(record)], readChange)
    }

    /// All changes of one life of a record, the oldest first.
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

    /// The changes to send next: of the oldest change-set that has any that were not refused.
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

    func refusedChanges(of record: Int64) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change"))
            WHERE record = ?1 AND refusal IS NOT NULL ORDER BY sequence
            """, [.integer(record)], readChange)
    }

    func insertChange(
        _ sequence: Int64, _ record: Int64, _ kind: SyncItem.Kind, fields: [String: Field],
        originals: [String: Field]
    ) throws {
        try run(
            """
            INSERT INTO \(table("change")) (sequence, record, kind, fields, originals) VALUES (?1, ?2, ?3, ?4, ?5)
            """,
            [
                .integer(sequence), .integer(record), .integer(kind.rawValue),
                .blob(FieldsBinary.encode(fields)), .blob(FieldsBinary.encode(originals)),
            ])
    }

    func updateChange(_ change: ChangeRow) throws {
        try run(
            "UPDATE \(table("change")) SET kind = ?2, fields = ?3, originals = ?4 WHERE id = ?1",
            [
                .integer(change.id), .integer(change.kind.rawValue),
                .blob(FieldsBinary.encode(change.fields)),
                .blob(FieldsBinary.encode(change.originals)),
            ])
    }

    func removeChange(_ change: ChangeRow) throws {
        try run("DELETE FROM \(table("change")) WHERE id = ?1", [.integer(change.id)])
    }

    /// Sets aside everything that waits for a record: a later change must not overtake a refused one.
    func refuseChanges(of record: Int64, code: Int64) throws {
        try run(
            "UPDATE \(table("change")) SET refusal = ?2 WHERE record = ?1",
            [.integer(record), .integer(code)])
    }

    func liftRefusals(_ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("change")) SET refusal = NULL WHERE refusal IS NOT NULL
            AND sequence IN (SELECT sequence FROM \(table("changeset")) WHERE database = ?1)
            """, [.text(database.column)])
    }
}

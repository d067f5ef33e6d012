internal import CloudKit
internal import CloudWire
internal import SQLite

extension CloudKitTables {
    /// What stands in `refusal` for a conflict that never settled: no code of CloudKit.
    static let stuckRefusal: Int64 = -1

    /// What stands in `refusal` for values that only a row had, and that it can't give back.
    static let unrestorableRefusal: Int64 = -2

    private static let changeColumns =
        "id, sequence, record, kind, fields, originals, restore, refusal, ordinal"
    private static let isSpecial = "(restore IS NOT NULL OR refusal IS NOT NULL)"

    private func readChange(_ statement: borrowing Statement) throws -> ChangeRow {
        ChangeRow(
            id: statement.int64(at: 0), sequence: statement.int64(at: 1), record: statement.int64(at: 2),
            kind: SyncItem.Kind(rawValue: statement.int64(at: 3)) ?? .save,
            fields: try FieldsBinary.decode(statement.bytes(at: 4)),
            originals: try FieldsBinary.decode(statement.bytes(at: 5)),
            restore: statement.isNull(at: 6) ? [:] : try Self.rows(of: statement.bytes(at: 6)),
            refusal: statement.isNull(at: 7) ? nil : statement.int64(at: 7), ordinal: statement.int64(at: 8))
    }

    /// Which row holds the value of which field, as it is stored: integers as fields.
    private static func rows(of bytes: [UInt8]) throws -> [String: Int64] {
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

    // MARK: Change-sets

    func insertChangeSet(uuid: String, _ database: DatabaseKey) throws -> Int64 {
        try run(
            "INSERT INTO \(table("changeset")) (uuid, database) VALUES (?1, ?2)",
            [.text(uuid), .text(database.column)])
        return sqlite.lastInsertRowID
    }

    /// The newest change-set of a database, if a commit may join it: nothing of it was ever handed to an operation, and
    /// nothing of it was put aside.
    func changeSetToFold(_ database: DatabaseKey) throws -> Int64? {
        let newest = try first(
            """
            SELECT s.sequence, s.in_flight, EXISTS (
                SELECT 1 FROM \(table("change")) AS c WHERE c.sequence = s.sequence AND c.refusal IS NOT NULL)
            FROM \(table("changeset")) AS s WHERE s.database = ?1 ORDER BY s.sequence DESC LIMIT 1
            """, [.text(database.column)]
        ) { (sequence: $0.int64(at: 0), isOpen: $0.int64(at: 1) == 0 && $0.int64(at: 2) == 0) }
        return newest.flatMap { $0.isOpen ? $0.sequence : nil }
    }

    /// The number of the newest change there ever was.
    func lastChange() throws -> Int64 {
        try first(
            "SELECT seq FROM sqlite_sequence WHERE name = ?1", [.text("cloudKit_change_\(name)")]
        ) { $0.int64(at: 0) } ?? 0
    }

    /// Whether a change-set says something of a record that was deleted or made again under the same identity.
    func hasChange(ofAnotherLifeOf row: RecordRow, in sequence: Int64) throws -> Bool {
        let lives = try records(row.recordID, row.database)
        guard lives.count > 1 else { return false }
        return try lives.contains { try $0.id != row.id && change(sequence, $0.id) != nil }
    }

    /// Whether anything waits for a life of a record.
    func hasChanges(_ record: Int64) throws -> Bool {
        try first("SELECT 1 FROM \(table("change")) WHERE record = ?1 LIMIT 1", [.integer(record)]) { _ in
            true
        }
            ?? false
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
        let refused = try rows(
            """
            SELECT r.record_name, c.refusal, c.restore FROM \(table("change")) AS c
            JOIN \(table("record")) AS r ON r.id = c.record
            WHERE c.refusal IS NOT NULL AND r.database = ?1 ORDER BY c.record, c.sequence LIMIT ?2
            """, [.text(database.column), .integer(Int64(QueueCount.refusedListedMax))]
        ) { statement in
            (
                name: statement.text(at: 0), code: statement.int64(at: 1),
                keys: statement.isNull(at: 2) ? [] : try Self.rows(of: statement.bytes(at: 2)).keys.sorted()
            )
        }
        var problems: [CloudSyncProblem] = []
        for (name, code, keys) in refused {
            let problem = Self.problem(name, code, keys)
            if case .unrestorable(name, let earlier)? = problems.last, code == Self.unrestorableRefusal {
                problems[problems.count - 1] = Self.problem(name, code, Set(earlier).union(keys).sorted())
            } else if problems.last != problem {
                problems.append(problem)
            }
        }
        return problems
    }

    static func problem(_ recordName: String, _ refusal: Int64, _ keys: [String]) -> CloudSyncProblem {
        switch refusal {
        case stuckRefusal: .stuck(recordName: recordName)
        case unrestorableRefusal: .unrestorable(recordName: recordName, keys: keys)
        default: .refused(recordName: recordName, CKError.Code(rawValue: Int(refusal)) ?? .internalError)
        }
    }

    // MARK: In flight

    /// Says that an operation has changes of a change-set, or that none has any more. That one had stays known: the
    /// server may have them, whatever was answered.
    func setInFlight(_ sequence: Int64, _ isInFlight: Bool) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = ?2 WHERE sequence = ?1 AND in_flight <> ?2",
            [.integer(sequence), .integer(isInFlight ? 1 : -1)])
    }

    /// Nothing of a database is in flight any more.
    func clearInFlight(_ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = -1 WHERE database = ?1 AND in_flight = 1",
            [.text(database.column)])
    }

    /// Nothing is in flight any more: whoever had it is gone.
    func clearAllInFlight() throws {
        try run("UPDATE \(table("changeset")) SET in_flight = -1 WHERE in_flight = 1")
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

    /// The changes of a record that need more than to be sent: some of their values are in rows only, or they were
    /// put aside. The oldest first.
    func specialChanges(of record: Int64) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change")) WHERE record = ?1 AND \(Self.isSpecial)
            ORDER BY sequence
            """, [.integer(record)], readChange)
    }

    /// The changes that have values in a row.
    func changesToRestore(ownedBy rowID: Int64) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change"))
            WHERE record = (SELECT record FROM \(table("mapping")) WHERE rowid = ?1) AND restore IS NOT NULL
            ORDER BY sequence
            """, [.integer(rowID)], readChange
        ).filter { $0.restore.values.contains(rowID) }
    }

    /// The changes that have values in rows, some of them, in their order.
    func changesToRestore(after id: Int64, limit: Int) throws -> [ChangeRow] {
        try rows(
            """
            SELECT \(Self.changeColumns) FROM \(table("change")) WHERE id > ?1 AND restore IS NOT NULL
            ORDER BY id LIMIT ?2
            """, [.integer(id), .integer(Int64(limit))], readChange)
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
                .blob(FieldsBinary.encode(fields)), .blob(FieldsBinary.encode(originals)),
                Self.value(of: restore), .integer(ordinal),
            ])
        return sqlite.lastInsertRowID
    }

    func updateChange(_ change: ChangeRow) throws {
        try run(
            "UPDATE \(table("change")) SET kind = ?2, fields = ?3, originals = ?4, restore = ?5 WHERE id = ?1",
            [
                .integer(change.id), .integer(change.kind.rawValue),
                .blob(FieldsBinary.encode(change.fields)),
                .blob(FieldsBinary.encode(change.originals)), Self.value(of: change.restore),
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

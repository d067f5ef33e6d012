internal import CloudKit
internal import SQLite

/// The change-sets.
extension QueueTables {
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
            SELECT s.sequence, s.in_flight, (SELECT refused FROM \(table("count")) WHERE database = ?1) > 0 AND EXISTS (
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
        let lives = try records.records(row.recordID, row.database)
        guard lives.count > 1 else { return false }
        return try lives.contains { try $0.id != row.id && change(sequence, $0.id) != nil }
    }

    func removeChangeSetIfEmpty(_ sequence: Int64) throws {
        try run(
            """
            DELETE FROM \(table("changeset")) WHERE sequence = ?1
            AND NOT EXISTS (SELECT 1 FROM \(table("change")) WHERE sequence = ?1)
            """, [.integer(sequence)])
    }

    private func readChangeSet(_ statement: borrowing Statement) -> ChangeSetRow {
        ChangeSetRow(
            sequence: statement.int64(at: 0), uuid: statement.text(at: 1),
            database: DatabaseKey(column: statement.text(at: 2)), isInFlight: statement.int64(at: 3) == 1)
    }

    /// An account's change-sets, the oldest first.
    func changeSets(after sequence: Int64, limit: Int, account: Int64) throws -> [ChangeSetRow] {
        try rows(
            """
            SELECT sequence, uuid, database, in_flight FROM \(table("changeset")) WHERE sequence > ?1
            AND (database = ?2 OR substr(database, 1, length(?2) + 1) = ?2 || ':') ORDER BY sequence LIMIT ?3
            """, [.integer(sequence), .text("\(account)"), .integer(Int64(limit))], readChangeSet)
    }

    func oldestChangeSet(_ database: DatabaseKey) throws -> ChangeSetRow? {
        try first(
            """
            SELECT sequence, uuid, database, in_flight FROM \(table("changeset")) WHERE database = ?1
            ORDER BY sequence LIMIT 1
            """, [.text(database.column)], readChangeSet)
    }

    /// The name of the change-set that waits first in a database.
    func firstChangeSetUUID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE database = ?1 ORDER BY sequence LIMIT 1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// The name of a change-set.
    func uuid(of sequence: Int64) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.text(at: 0) }
    }

    /// The databases that something waits for.
    func databases() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE changesets > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// The databases of which something says that it is in flight.
    func databasesInFlight() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE in_flight > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// Says that an operation has changes of a change-set, or that none has any more. That one had stays known, since
    /// the server may have them, unless `setAnswered` says that it answered for each.
    func setInFlight(_ sequence: Int64, _ isInFlight: Bool) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = ?2 WHERE sequence = ?1 AND in_flight <> ?2",
            [.integer(sequence), .integer(isInFlight ? 1 : -1)])
    }

    /// Says that the server has answered for each change of a change-set that it got: it doesn't have what is left.
    func setAnswered(_ sequence: Int64) throws {
        try run("UPDATE \(table("changeset")) SET in_flight = 0 WHERE sequence = ?1", [.integer(sequence)])
    }

    /// Whether an operation has changes of a change-set.
    func isInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight = 1 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Whether the server may have changes of a change-set that it hasn't answered for.
    func wasInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight <> 0 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Nothing of a database is in flight any more.
    func clearInFlight(_ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = -1 WHERE database = ?1 AND in_flight = 1",
            [.text(database.column)])
    }

    /// Nothing is in flight any more: the process that sent it is gone.
    func clearAllInFlight() throws {
        try run("UPDATE \(table("changeset")) SET in_flight = -1 WHERE in_flight = 1")
    }
}

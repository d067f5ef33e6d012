internal import CloudKit
internal import SQLite

/// Change-sets: the changes of a commit in one database.
extension QueueTables {
    func insertChangeSet(uuid: String, _ database: DatabaseKey) throws -> Int64 {
        try run(
            "INSERT INTO \(table("changeset")) (uuid, database) VALUES (?1, ?2)",
            [.text(uuid), .text(database.column)])
        return sqlite.lastInsertRowID
    }

    /// Newest change-set of a database, if a commit may join it: it was never sent, and none of its changes is
    /// quarantined.
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

    /// Returns the number of the newest change ever.
    func lastChange() throws -> Int64 {
        try first(
            "SELECT seq FROM sqlite_sequence WHERE name = ?1", [.text("cloudKit_change_\(name)")]
        ) { $0.int64(at: 0) } ?? 0
    }

    /// Returns true if a change-set has a change of another incarnation of the record: deleted or created again
    /// under the same name.
    func hasChange(ofAnotherIncarnationOf row: RecordRow, in sequence: Int64) throws -> Bool {
        let incarnations = try records.records(row.recordID, row.database)
        guard incarnations.count > 1 else { return false }
        return try incarnations.contains { try $0.id != row.id && change(sequence, $0.id) != nil }
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

    /// Change-sets of an account, oldest first.
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

    /// Name of the first pending change-set of a database.
    func firstChangeSetUUID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE database = ?1 ORDER BY sequence LIMIT 1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Name of a change-set.
    func uuid(of sequence: Int64) throws -> String? {
        try first(
            "SELECT uuid FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.text(at: 0) }
    }

    /// Returns databases with pending changes.
    func databases() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE changesets > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// Returns databases with a change-set that is marked as in flight.
    func databasesInFlight() throws -> [DatabaseKey] {
        try rows("SELECT database FROM \(table("count")) WHERE in_flight > 0 ORDER BY database") {
            DatabaseKey(column: $0.text(at: 0))
        }
    }

    /// Marks a change-set as being sent, or as no longer being sent. That it was sent stays stored, since the server
    /// may have its changes, until `setAnswered`.
    func setInFlight(_ sequence: Int64, _ isInFlight: Bool) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = ?2 WHERE sequence = ?1 AND in_flight <> ?2",
            [.integer(sequence), .integer(isInFlight ? 1 : -1)])
    }

    /// Notes that the server has responded to all changes of a change-set that were sent. So it has none of the rest.
    func setAnswered(_ sequence: Int64) throws {
        try run("UPDATE \(table("changeset")) SET in_flight = 0 WHERE sequence = ?1", [.integer(sequence)])
    }

    /// Returns true if a change-set is being sent.
    func isInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight = 1 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Returns true if the server may have changes of a change-set without having responded to them.
    func wasInFlight(_ sequence: Int64) throws -> Bool {
        try first(
            "SELECT in_flight <> 0 FROM \(table("changeset")) WHERE sequence = ?1", [.integer(sequence)]
        ) { $0.int64(at: 0) == 1 } ?? false
    }

    /// Marks all change-sets of a database as no longer being sent.
    func clearInFlight(_ database: DatabaseKey) throws {
        try run(
            "UPDATE \(table("changeset")) SET in_flight = -1 WHERE database = ?1 AND in_flight = 1",
            [.text(database.column)])
    }

    /// Marks all change-sets as no longer being sent: the process that sent them has ended.
    func clearAllInFlight() throws {
        try run("UPDATE \(table("changeset")) SET in_flight = -1 WHERE in_flight = 1")
    }
}

internal import CloudKit
internal import SQLite

/// Quarantined changes, and the server's reasons.
extension QueueTables {
    /// Maximum size of a stored reason, in bytes.
    static let reasonBytesMax = 1_000

    /// Creates the table of the server's reasons. On the disk its name, and that of the column with the code, say
    /// *refusal*. The table is younger than the others of version 4, so it is created at the registration if it is
    /// missing. Triggers delete a reason when its change leaves the quarantine, also if an earlier version of the app
    /// writes.
    func createQuarantineReasons() throws {
        func trigger(_ name: String, _ event: String) -> String {
            """
            CREATE TRIGGER IF NOT EXISTS \(quoted("cloudKit_refusal_\(self.name)_\(name)"))
                AFTER \(event) ON \(table("change")) WHEN OLD.refusal IS NOT NULL
                BEGIN DELETE FROM \(table("refusal")) WHERE change = OLD.id; END;
            """
        }
        try sqlite.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table("refusal")) (change INTEGER PRIMARY KEY, reason TEXT NOT NULL);
            \(trigger("delete", "DELETE"))
            \(trigger("update", "UPDATE OF refusal"))
            """)
    }

    /// Quarantines one change.
    func quarantineChange(_ change: ChangeRow, code: Int64) throws {
        try run(
            "UPDATE \(table("change")) SET refusal = ?2 WHERE id = ?1", [.integer(change.id), .integer(code)])
    }

    /// Quarantines all pending changes of a record: a later change must not overtake a quarantined one.
    ///
    /// - Parameter reason: The server's reason, or nil if it gave none.
    func quarantineChanges(of record: Int64, code: Int64, reason: String? = nil) throws {
        try run(
            "UPDATE \(table("change")) SET refusal = ?2 WHERE record = ?1",
            [.integer(record), .integer(code)])
        guard let reason else { return }
        try run(
            """
            INSERT OR REPLACE INTO \(table("refusal")) (change, reason)
            SELECT id, ?2 FROM \(table("change")) WHERE record = ?1
            """, [.integer(record), .text(reason.beginning(bytesMax: Self.reasonBytesMax))])
    }

    /// Returns the server's reason for rejecting a change.
    func reason(of change: ChangeRow) throws -> String? {
        let expression = try reasonExpression()
        return try first(
            "SELECT \(expression) FROM \(table("change")) AS c WHERE c.id = ?1", [.integer(change.id)]
        ) { $0.isNull(at: 0) ? nil : $0.text(at: 0) } ?? nil
    }

    /// SQL expression for the reason of a change `c`. A file that an earlier version made, and that is only read, lacks
    /// the table.
    func reasonExpression() throws -> String {
        let isThere =
            try first(
                "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1",
                [.text("cloudKit_refusal_\(name)")]
            ) { $0.int64(at: 0) > 0 } ?? false
        return isThere ? "(SELECT reason FROM \(table("refusal")) WHERE change = c.id)" : "NULL"
    }

    /// Lifts the quarantine of a change: it is sent again.
    func liftQuarantine(of change: ChangeRow) throws {
        try run("UPDATE \(table("change")) SET refusal = NULL WHERE id = ?1", [.integer(change.id)])
    }

    /// Lifts the quarantine of all changes with a code.
    func liftQuarantine(code: Int64) throws {
        try run(
            "UPDATE \(table("change")) SET refusal = NULL WHERE refusal = ?1", [.integer(code)])
    }

    /// Lifts the quarantine of the changes with a code of one incarnation of a record.
    func liftQuarantine(code: Int64, of record: Int64) throws {
        try run(
            "UPDATE \(table("change")) SET refusal = NULL WHERE record = ?2 AND refusal = ?1",
            [.integer(code), .integer(record)])
    }

    func liftQuarantine(_ database: DatabaseKey) throws {
        try run(
            """
            UPDATE \(table("change")) SET refusal = NULL WHERE refusal IS NOT NULL
            AND sequence IN (SELECT sequence FROM \(table("changeset")) WHERE database = ?1)
            """, [.text(database.column)])
    }

    /// Lifts the quarantine of a database's changes with a code; with nil, of all its changes.
    func liftQuarantine(_ database: DatabaseKey, onlyWith code: CKError.Code?) throws {
        guard let code else { return try liftQuarantine(database) }
        try run(
            """
            UPDATE \(table("change")) SET refusal = NULL WHERE refusal = ?2
            AND sequence IN (SELECT sequence FROM \(table("changeset")) WHERE database = ?1)
            """, [.text(database.column), .integer(Int64(code.rawValue))])
    }
}

extension CKError {
    /// Description of the error without the names that the whole message has. Apple's errors have the key too.
    var reason: String { userInfo["CKErrorDescription"] as? String ?? localizedDescription }
}

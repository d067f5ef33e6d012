internal import CloudKit
internal import SQLite

/// Owns `error`: the last errors of the sync, for `yap sync inspect`.
struct KeptErrorTable: SyncTable {
    let statements: SyncStatements

    /// Maximum number of errors kept in a file.
    static let keptErrorsMax: Int64 = 100

    /// Maximum size of a stored message, in bytes.
    static let keptMessageBytesMax = 1_000

    /// Creates the table, which is younger than the others of version 3, in files that were created without it.
    func createErrors() throws {
        try sqlite.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table("error")) (
                id INTEGER PRIMARY KEY AUTOINCREMENT, database TEXT NOT NULL, at_milliseconds INTEGER NOT NULL,
                code INTEGER NOT NULL, message TEXT NOT NULL);
            """)
    }

    /// Stores an error, and deletes the oldest one beyond the limit.
    func keep(_ error: CKError, _ database: DatabaseKey, atMilliseconds: Int64) throws {
        let message = error.localizedDescription.beginning(bytesMax: Self.keptMessageBytesMax)
        try run(
            "INSERT INTO \(table("error")) (database, at_milliseconds, code, message) VALUES (?1, ?2, ?3, ?4)",
            [
                .text(database.column), .integer(atMilliseconds), .integer(Int64(error.code.rawValue)),
                .text(message),
            ])
        try run(
            "DELETE FROM \(table("error")) WHERE id <= ?1",
            [.integer(sqlite.lastInsertRowID - Self.keptErrorsMax)])
    }

    /// Returns the stored errors of a database, the newest first.
    func keptErrors(_ database: DatabaseKey) throws -> [SyncInspection.KeptError] {
        try rows(
            """
            SELECT at_milliseconds, code, message FROM \(table("error")) WHERE database = ?1 ORDER BY id DESC
            """, [.text(database.column)]
        ) {
            SyncInspection.KeptError(
                atMilliseconds: $0.int64(at: 0), code: Int($0.int64(at: 1)), message: $0.text(at: 2))
        }
    }
}

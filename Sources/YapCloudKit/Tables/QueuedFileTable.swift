internal import CloudWire
internal import SQLite

/// Owns `asset`: the copies of files that queued changes name, and the files that changes wait for.
struct QueuedFileTable: SyncTable {
    let statements: SyncStatements

    /// Stored in place of a change's number to note that the copy was made.
    private static let madeMark: Int64 = 0

    func createAssets() throws {
        try sqlite.execute(
            """
            CREATE TABLE \(table("asset")) (
                name TEXT NOT NULL, change INTEGER NOT NULL, PRIMARY KEY (name, change)) WITHOUT ROWID;
            CREATE INDEX \(quoted("cloudKit_asset_\(name)_change")) ON \(table("asset")) (change);
            """)
    }

    func noteAsset(_ name: String) throws {
        try noteAsset(name, of: Self.madeMark)
    }

    func noteAsset(_ name: String, of change: Int64) throws {
        try run(
            "INSERT OR IGNORE INTO \(table("asset")) (name, change) VALUES (?1, ?2)",
            [.text(name), .integer(change)])
    }

    func isKnownAsset(_ name: String) throws -> Bool {
        try first("SELECT 1 FROM \(table("asset")) WHERE name = ?1", [.text(name)]) { _ in true } ?? false
    }

    /// Notes the copies that a change names.
    func noteAssets(of change: Int64, _ fields: [String: Field]) throws {
        for name in assets.names(in: fields) { try noteAsset(name, of: change) }
    }

    /// Deletes the notes of the copies that a change named.
    func forgetAssets(of change: Int64) throws {
        try run("DELETE FROM \(table("asset")) WHERE change = ?1", [.integer(change)])
    }

    /// Returns the copies that no change names any more, and deletes their notes.
    func takeUnusedAssets() throws -> [String] {
        let names = try rows(
            "SELECT name FROM \(table("asset")) GROUP BY name HAVING max(change) = 0 ORDER BY name"
        ) { $0.text(at: 0) }
        for name in names { try run("DELETE FROM \(table("asset")) WHERE name = ?1", [.text(name)]) }
        return names
    }

    /// Deletes the notes of changes that don't exist, and returns all copies that a change names.
    func usedAssets() throws -> Set<String> {
        try run(
            """
            DELETE FROM \(table("asset")) WHERE change <> ?1
            AND change NOT IN (\(QueueTables(statements: statements).selectChangeIDs))
            """, [.integer(Self.madeMark)])
        try run(
            """
            DELETE FROM \(table("asset")) WHERE name NOT IN (SELECT name FROM \(table("asset")) WHERE change <> ?1)
            """, [.integer(Self.madeMark)])
        return try namesOfAssets()
    }

    private func namesOfAssets() throws -> Set<String> {
        Set(try rows("SELECT DISTINCT name FROM \(table("asset"))") { $0.text(at: 0) })
    }

    /// Returns the files of a field that can't be sent: their bytes aren't on this device, and the record doesn't have
    /// them in this field on the server.
    private func missingFiles(
        in field: Field, named name: String, _ original: Field?, of record: Int64
    ) throws -> [CloudFile] {
        let absent = field.files.filter { !files.contain($0) }
        guard !absent.isEmpty else { return [] }
        guard let row = try MappingTables(statements: statements).record(id: record), row.changeTag != nil,
            absent.allSatisfy({ FileOnServer.asset($0, of: row.recordID, name) != nil })
        else { return absent }
        // If the original is unknown, the server decides.
        guard let original else { return [] }
        return absent.filter { !original.files.contains($0) }
    }

    /// Notes the files that a change can't be sent without.
    func noteMissingFiles(
        of change: Int64, _ fields: [String: Field], originals: [String: Field], of record: Int64
    ) throws {
        guard fields.hasAssets else { return }
        for (name, field) in fields {
            for file in try missingFiles(in: field, named: name, originals[name], of: record) {
                try noteAsset(file.text, of: change)
            }
        }
    }

    /// Returns true if a change waits for a file, or has waited for one.
    func hasMissingFiles(_ change: Int64) throws -> Bool {
        try first(
            "SELECT 1 FROM \(table("asset")) WHERE change = ?1 AND name >= ?2 AND name < ?3",
            [.integer(change), .text(CloudFile.scheme), .text(CloudFile.scheme + "~")]
        ) { _ in true } ?? false
    }

    /// Deletes the notes of missing files that are on this device now. Checks up to 100 files.
    /// - Returns: Whether one was found.
    func takeArrivedFiles() throws -> Bool {
        let names = try rows(
            "SELECT DISTINCT name FROM \(table("asset")) WHERE name >= ?1 AND name < ?2 LIMIT 100",
            [.text(CloudFile.scheme), .text(CloudFile.scheme + "~")]
        ) { $0.text(at: 0) }
        let arrived = names.filter { CloudFile(text: $0).map { files.contain($0) } ?? true }
        for name in arrived { try run("DELETE FROM \(table("asset")) WHERE name = ?1", [.text(name)]) }
        return !arrived.isEmpty
    }
}

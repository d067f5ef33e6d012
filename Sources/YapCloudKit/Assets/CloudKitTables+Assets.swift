internal import CloudWire
internal import SQLite

/// Which changes of the queue name which copies.
extension CloudKitTables {
    /// In place of a change: the copy was made.
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

    /// Notes which copies a change names now.
    func noteAssets(of change: Int64, _ fields: [String: Field]) throws {
        for name in assets.names(in: fields) { try noteAsset(name, of: change) }
    }

    /// Forgets which copies a change named.
    func forgetAssets(of change: Int64) throws {
        try run("DELETE FROM \(table("asset")) WHERE change = ?1", [.integer(change)])
    }

    /// The copies that no change names any more, which are forgotten.
    func takeUnusedAssets() throws -> [String] {
        let names = try rows(
            "SELECT name FROM \(table("asset")) GROUP BY name HAVING max(change) = 0 ORDER BY name"
        ) { $0.text(at: 0) }
        for name in names { try run("DELETE FROM \(table("asset")) WHERE name = ?1", [.text(name)]) }
        return names
    }

    /// All copies that any change names, after what is said of changes that are not there was forgotten.
    func usedAssets() throws -> Set<String> {
        try run(
            """
            DELETE FROM \(table("asset")) WHERE change <> ?1 AND change NOT IN (SELECT id FROM \(table("change")))
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
}

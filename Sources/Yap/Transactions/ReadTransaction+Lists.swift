import SQLite

/// Counting and listing.
extension YapDatabaseReadTransaction {
    /// How many rows the collection has.
    public final func numberOfKeys(inCollection collection: String) throws -> Int {
        try begin(collection)
        return try rows.count("SELECT count(*) FROM database2 WHERE collection = ?1", collection)
    }

    /// How many rows all collections have.
    public final func numberOfKeysInAllCollections() throws -> Int {
        try beginAll()
        return try rows.count("SELECT count(*) FROM database2")
    }

    /// The collections that have a row, each with its number of rows, in the order of their names' bytes. Looks at all
    /// keys.
    public final func numberOfKeysInEachCollection() throws -> [(collection: String, count: Int)] {
        try beginAll()
        return try store.statement(
            "SELECT collection, count(*) FROM database2 GROUP BY collection ORDER BY collection"
        ) { statement in
            var counts: [(collection: String, count: Int)] = []
            while try statement.step() {
                counts.append((statement.text(at: 0), Int(statement.int64(at: 1))))
            }
            return counts
        }
    }

    /// How many collections have a row.
    public final func numberOfCollections() throws -> Int {
        try beginAll()
        return try rows.count("SELECT count(DISTINCT collection) FROM database2")
    }

    /// The collections that have a row, in the order of their names' bytes.
    public final func allCollections() throws -> [String] {
        try beginAll()
        return try rows.texts("SELECT DISTINCT collection FROM database2 ORDER BY collection")
    }

    /// The collections that have a row with this key, in the order of their names' bytes.
    public final func allCollections(containingKey key: String) throws -> [String] {
        try beginAll()
        return try rows.texts("SELECT collection FROM database2 WHERE key = ?1 ORDER BY collection", key)
    }

    /// The keys of the collection, in the order of their bytes. To stop early, use `keys(inCollection:)`.
    public final func allKeys(inCollection collection: String) throws -> [String] {
        try begin(collection)
        return try rows.texts("SELECT key FROM database2 WHERE collection = ?1 ORDER BY key", collection)
    }

    private func beginAll() throws {
        try check()
        dependencies?.addEverything()
    }
}

import SQLite

/// Counts and lists of rows and collections.
extension YapDatabaseReadTransaction {
    /// Returns the number of rows in the collection.
    public final func numberOfKeys(inCollection collection: String) throws -> Int {
        try begin(collection)
        return try rows.count("SELECT count(*) FROM database2 WHERE collection = ?1", collection)
    }

    /// Returns the number of rows in all collections.
    public final func numberOfKeysInAllCollections() throws -> Int {
        try beginAll()
        return try rows.count("SELECT count(*) FROM database2")
    }

    /// Returns the collections that have rows, each with its number of rows, ordered by the bytes of their names.
    /// Reads all keys.
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

    /// Returns the number of collections that have rows.
    public final func numberOfCollections() throws -> Int {
        try beginAll()
        return try rows.count("SELECT count(DISTINCT collection) FROM database2")
    }

    /// Returns the collections that have rows, ordered by the bytes of their names.
    public final func allCollections() throws -> [String] {
        try beginAll()
        return try rows.texts("SELECT DISTINCT collection FROM database2 ORDER BY collection")
    }

    /// Returns the collections that have a row with this key, ordered by the bytes of their names.
    public final func allCollections(containingKey key: String) throws -> [String] {
        try beginAll()
        return try rows.texts("SELECT collection FROM database2 WHERE key = ?1 ORDER BY collection", key)
    }

    /// Returns the keys of the collection, ordered by their bytes. To stop early, use `keys(inCollection:)`.
    public final func allKeys(inCollection collection: String) throws -> [String] {
        try begin(collection)
        return try rows.texts("SELECT key FROM database2 WHERE collection = ?1 ORDER BY key", collection)
    }

    private func beginAll() throws {
        try check()
        dependencies?.addEverything()
    }
}

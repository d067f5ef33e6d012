/// What a connection, or the database's writer, keeps in memory.
public struct YapDatabaseMemoryUse: Sendable, Hashable {
    /// Number of rows that are kept decoded. Their size isn't known: they are objects of the app.
    public var cachedRowsCount = 0
    /// Bytes of pages of the file.
    public var pageCacheBytes = 0
    /// Bytes of prepared statements.
    public var statementBytes = 0
    /// Bytes of the parsed schema.
    public var schemaBytes = 0

    /// Bytes of SQLite's memory in all. The decoded rows aren't counted.
    public var sqliteBytes: Int { pageCacheBytes + statementBytes + schemaBytes }
}

/// Memory that a connection, or the database's writer, uses.
public struct YapDatabaseMemoryUse: Sendable, Hashable {
    /// Number of cached decoded rows. Their size is unknown, because they are objects of the app.
    public var cachedRowsCount = 0
    /// Bytes of cached pages of the file.
    public var pageCacheBytes = 0
    /// Bytes of prepared statements.
    public var statementBytes = 0
    /// Bytes of the parsed schema.
    public var schemaBytes = 0

    /// Total bytes that SQLite uses. Decoded rows aren't counted.
    public var sqliteBytes: Int { pageCacheBytes + statementBytes + schemaBytes }
}

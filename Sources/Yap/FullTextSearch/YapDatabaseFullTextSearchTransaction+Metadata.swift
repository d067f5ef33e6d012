import SQLite

/// Metadata of the rows that a query finds, read by the same statement.
extension YapDatabaseFullTextSearchTransaction {
    /// Returns the rows that a query finds, with their scores and their metadata.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - type: The registered type of the collection's metadata.
    ///   - snippets: Excerpts of each row. For the other parameters see `matches(_:snippet:)`.
    ///   - order: The order of the rows.
    ///   - limit: Maximum number of rows, or nil for all.
    ///   - offset: Number of rows to skip.
    /// - Throws: Also `missingRegistration`, `typeMismatch`.
    public func matches<Metadata: Sendable>(
        _ query: Query, metadata type: Metadata.Type, snippets: [Snippet] = [],
        order: YapDatabaseTextOrder = .bestFirst, limit: Int? = nil, offset: Int = 0
    ) throws -> [(match: Match, metadata: Metadata?)] {
        try visitMatches(query, snippets, order, limit, offset, more: "d.metadata") { match, statement in
            let metadata = try transaction.metadata(
                type, match.key, inCollection: search.collection, statement, column: 4,
                keptRowID: limit == nil ? nil : statement.int64(at: 0))
            return (match, metadata)
        }
    }

    /// Returns the keys and metadata of the rows that a query finds, without decoding objects. Parameters and errors:
    /// see `matches(_:metadata:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ query: Query, order: YapDatabaseTextOrder = .bestFirst, limit: Int? = nil,
        offset: Int = 0
    ) throws -> [(key: String, metadata: Metadata?)] {
        let condition = try TextQueryCondition(query, search, sql)
        try transaction.begin(search.collection)
        return try visit("d.rowid, d.key, d.metadata", condition, order, limit, offset) { statement in
            let key = statement.text(at: 1)
            let metadata = try transaction.metadata(
                type, key, inCollection: search.collection, statement, column: 2,
                keptRowID: limit == nil ? nil : statement.int64(at: 0))
            return (key, metadata)
        }
    }
}

import SQLite

/// Metadata of the rows that a query finds, read by the same statements.
extension YapDatabaseVectorIndexTransaction {
    /// A row that a query found, with its metadata and the distance of its vector.
    public typealias RowWithMetadata<Metadata> = (
        key: String, object: Object, metadata: Metadata?, distance: Float
    )

    /// Returns the rows with the vectors nearest to a vector, with their metadata.
    ///
    /// ```swift
    /// let near = try transaction[byMeaning].rows(metadata: NoteInfo.self, nearest: vector, limit: 20)
    /// ```
    ///
    /// An observation also depends on the metadata of these rows.
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata. For the other parameters see
    ///     `rows(nearest:)`.
    ///   - vector: The vector to compare with.
    ///   - limit: Maximum number of rows, up to 10,000.
    ///   - distanceMax: Maximum distance of a row, or nil for any.
    ///   - keys: Keys of the rows to compare, or nil for all.
    ///   - check: Called between blocks of vectors. An error that it throws ends the search.
    /// - Throws: Also `missingRegistration`, `typeMismatch`.
    public func rows<Metadata: Sendable>(
        metadata type: Metadata.Type, nearest vector: [Float], limit: Int, distanceMax: Float? = nil,
        among keys: [String]? = nil, check: () throws -> Void = {}
    ) throws -> [RowWithMetadata<Metadata>] {
        try visit(sql.rowWithMetadata, nearest(vector, limit, distanceMax, keys, check)) {
            statement, distance in
            let (key, object) = try row(statement)
            return (key, object, try metadata(type, key, statement, column: 3), distance)
        }
    }

    /// Returns the keys and the metadata of the rows with the vectors nearest to a vector. No object is decoded.
    /// Parameters and errors: see `rows(metadata:nearest:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, nearest vector: [Float], limit: Int, distanceMax: Float? = nil,
        among keys: [String]? = nil, check: () throws -> Void = {}
    ) throws -> [(key: String, metadata: Metadata?, distance: Float)] {
        try visit(sql.metadata, nearest(vector, limit, distanceMax, keys, check)) { statement, distance in
            let key = statement.text(at: 1)
            transaction.dependencies?.add(key: key, collection: index.collection)
            return (key, try metadata(type, key, statement, column: 2), distance)
        }
    }

    /// Returns the metadata of a row, from a statement with the rowid as its first column.
    private func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ key: String, _ statement: borrowing Statement, column: Int32
    ) throws -> Metadata? {
        try transaction.metadata(
            type, key, inCollection: index.collection, statement, column: column,
            keptRowID: statement.int64(at: 0))
    }
}

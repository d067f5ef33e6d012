/// Metadata of the rows that a query finds, read by the same statement.
extension YapDatabaseIndexTransaction {
    /// Returns the rows that a condition finds, with their metadata.
    ///
    /// ```swift
    /// let rows = try transaction[byRating].rows(metadata: NoteInfo.self, where: { $0.rating > 3 })
    /// for (key, note, info) in rows where info == nil { print(key, note.title) }
    /// ```
    ///
    /// An observation also depends on the metadata of the rows that it finds, or, if the index has no metadata, on
    /// all rows of the collection.
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata. For the other parameters see
    ///     `rows(where:)`.
    ///   - condition: Chooses the rows.
    ///   - sort: The order, by the first element first.
    ///   - limit: Maximum number of rows, or nil for all.
    ///   - offset: Number of rows to skip.
    /// - Throws: Also `missingRegistration`, `typeMismatch`.
    public func rows<Metadata: Sendable>(
        metadata type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, object: Object, metadata: Metadata?)] {
        try reader.rows(type, reader.filter(condition, reads: .rows), sort, limit, offset)
    }

    /// Returns the first row that a condition finds, with its metadata. Parameters and errors: see
    /// `rows(metadata:where:)`.
    public func first<Metadata: Sendable>(
        metadata type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []
    ) throws -> (key: String, object: Object, metadata: Metadata?)? {
        try reader.rows(type, reader.filter(condition, reads: .rows), sort, 1, 0).first
    }

    /// Returns the keys and metadata of the rows that a condition finds, without decoding objects. Parameters and
    /// errors: see `rows(metadata:where:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, metadata: Metadata?)] {
        try reader.metadata(type, reader.filter(condition, reads: .rows), sort, limit, offset)
    }

    /// Returns the rows for which an expression is true, with their metadata. Parameters and errors: see
    /// `rows(matching:)` and `rows(metadata:where:)`.
    public func rows<Metadata: Sendable>(
        metadata type: Metadata.Type, matching expression: String, _ values: [YapDatabaseColumnValue] = [],
        sort: [Sort] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, object: Object, metadata: Metadata?)] {
        try reader.rows(type, reader.filter(expression, values), sort, limit, offset)
    }

    /// Returns the keys and metadata of the rows for which an expression is true. Parameters and errors: see
    /// `rows(matching:)` and `rows(metadata:where:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, matching expression: String, _ values: [YapDatabaseColumnValue] = [],
        sort: [Sort] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, metadata: Metadata?)] {
        try reader.metadata(type, reader.filter(expression, values), sort, limit, offset)
    }
}

/// Reading the metadata of the rows that a query finds, by the same statement.
extension YapDatabaseIndexTransaction {
    /// The rows that a condition finds, with their metadata.
    ///
    /// ```swift
    /// for (key, note, info) in try $0[byRating].rows(metadata: NoteInfo.self, where: { $0.rating > 3 }) { ... }
    /// ```
    ///
    /// Observed, it depends on the metadata too: on that of the rows that it finds, or, if the index has nothing of the
    /// metadata, on all rows of the collection.
    ///
    /// - Parameter type: The type that the collection's metadata is registered with. The others as `rows(where:)`.
    /// - Throws: also `missingRegistration`, `typeMismatch`.
    public func rows<Metadata: Sendable>(
        metadata type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, object: Object, metadata: Metadata?)] {
        try reader.rows(type, reader.filter(condition, reads: .rows), sort, limit, offset)
    }

    /// The first row that a condition finds, with its metadata. Parameters and errors as `rows(metadata:where:)`.
    public func first<Metadata: Sendable>(
        metadata type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = []
    ) throws -> (key: String, object: Object, metadata: Metadata?)? {
        try reader.rows(type, reader.filter(condition, reads: .rows), sort, 1, 0).first
    }

    /// The keys and the metadata of the rows that a condition finds; no object is decoded. Parameters and errors as
    /// `rows(metadata:where:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, where condition: ((Properties) -> Condition)? = nil, sort: [Sort] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, metadata: Metadata?)] {
        try reader.metadata(type, reader.filter(condition, reads: .rows), sort, limit, offset)
    }

    /// The rows for which an expression is true, with their metadata. Parameters and errors as `rows(matching:)` and
    /// `rows(metadata:where:)`.
    public func rows<Metadata: Sendable>(
        metadata type: Metadata.Type, matching expression: String, _ values: [YapDatabaseColumnValue] = [],
        sort: [Sort] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, object: Object, metadata: Metadata?)] {
        try reader.rows(type, reader.filter(expression, values), sort, limit, offset)
    }

    /// The keys and the metadata of the rows for which an expression is true. Parameters and errors as
    /// `rows(matching:)` and `rows(metadata:where:)`.
    public func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, matching expression: String, _ values: [YapDatabaseColumnValue] = [],
        sort: [Sort] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [(key: String, metadata: Metadata?)] {
        try reader.metadata(type, reader.filter(expression, values), sort, limit, offset)
    }
}

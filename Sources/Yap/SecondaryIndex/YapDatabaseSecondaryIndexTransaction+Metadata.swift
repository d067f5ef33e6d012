/// Aggregates over columns of the metadata. Rows without metadata have no value. Conditions and errors are those of
/// the same methods for properties of objects.
extension YapDatabaseSecondaryIndexTransaction {
    /// Returns the smallest value of an optional property of the metadata, or nil if no row has a value.
    public func minimum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .metadata(path), condition)
    }

    /// Returns the smallest value of a property of the metadata, or nil if no row has a value.
    public func minimum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .metadata(path), condition)
    }

    /// Returns the greatest value of an optional property of the metadata, or nil if no row has a value.
    public func maximum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .metadata(path), condition)
    }

    /// Returns the greatest value of a property of the metadata, or nil if no row has a value.
    public func maximum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .metadata(path), condition)
    }

    /// Returns the sum of a property's numbers, or 0 if there are none.
    public func sum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        try reader.sum(.metadata(path), condition)
    }

    /// Returns the mean of a property's numbers, or nil if there are none.
    public func average<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        try reader.average(.metadata(path), condition)
    }

    /// Returns the distinct values of an optional property of the metadata, each with its number of rows, in
    /// ascending order. Nil counts the rows without a value.
    public func counts<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        byMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value?, count: Int)] {
        try reader.counts(.metadata(path), condition)
    }

    /// Returns the distinct values of a property of the metadata, each with its number of rows, in ascending order.
    /// Nil counts the rows without metadata.
    public func counts<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        byMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value?, count: Int)] {
        try reader.counts(.metadata(path), condition)
    }
}

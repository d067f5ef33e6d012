/// Computing values of columns of the metadata. Rows without metadata have no value. Conditions and errors as those of
/// the same methods for properties of objects.
extension YapDatabaseSecondaryIndexTransaction {
    /// The smallest value of a property of the metadata that may have none.
    public func minimum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .metadata(path), condition)
    }

    /// The smallest value of a property of the metadata; nil if no row has a value.
    public func minimum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("min", .metadata(path), condition)
    }

    /// The greatest value of a property of the metadata that may have none.
    public func maximum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .metadata(path), condition)
    }

    /// The greatest value of a property of the metadata; nil if no row has a value.
    public func maximum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Value? {
        try reader.aggregate("max", .metadata(path), condition)
    }

    /// The sum of a property's numbers; 0 without any.
    public func sum<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double {
        try reader.sum(.metadata(path), condition)
    }

    /// The mean of a property's numbers; nil without any.
    public func average<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        ofMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> Double? {
        try reader.average(.metadata(path), condition)
    }

    /// The different values of a property of the metadata and how many rows have each, in ascending order. Nil counts
    /// the rows without a value.
    public func counts<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        byMetadata path: any KeyPath<Metadata, Value?> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value?, count: Int)] {
        try reader.counts(.metadata(path), condition)
    }

    /// The same of a property that has a value in all metadata. Nil counts the rows without metadata.
    public func counts<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        byMetadata path: any KeyPath<Metadata, Value> & Sendable,
        where condition: ((Properties) -> Condition)? = nil
    ) throws -> [(value: Value?, count: Int)] {
        try reader.counts(.metadata(path), condition)
    }
}

/// A coordinate of the point to which a query finds the nearest rows.
public struct YapDatabaseRTreePosition<Object: Sendable>: Sendable {
    let path: IndexColumnPath
    let value: YapDatabaseColumnValue
    let scale: Double

    /// Creates a coordinate in one dimension.
    ///
    /// - Parameters:
    ///   - path: The dimension's property, or one of the two.
    ///   - value: The coordinate.
    ///   - scale: Factor of differences in this dimension, to make dimensions of different units comparable.
    public static func at<Value: YapDatabaseRTreeValue>(
        _ path: any KeyPath<Object, Value> & Sendable, _ value: Value.Bound, scale: Double = 1
    ) -> Self {
        Self(path: .object(path), value: value.columnValue, scale: scale)
    }

    /// Creates a coordinate in one dimension of the metadata. Parameters: see the other form.
    public static func at<Metadata: Sendable, Value: YapDatabaseRTreeValue>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ value: Value.Bound, scale: Double = 1
    ) -> Self {
        Self(path: .metadata(path), value: value.columnValue, scale: scale)
    }
}

/// A coordinate of the point that the rows of a query are near to.
public struct YapDatabaseRTreePosition<Object: Sendable>: Sendable {
    let path: IndexColumnPath
    let value: YapDatabaseColumnValue
    let scale: Double

    /// A coordinate in one dimension.
    ///
    /// - Parameters:
    ///   - path: The dimension's property, or one of the two.
    ///   - value: The coordinate.
    ///   - scale: What a difference in this dimension is multiplied with, so that dimensions of different units can be
    ///     compared.
    public static func at<Value: YapDatabaseRTreeValue>(
        _ path: any KeyPath<Object, Value> & Sendable, _ value: Value.Bound, scale: Double = 1
    ) -> Self {
        Self(path: .object(path), value: value.columnValue, scale: scale)
    }

    /// A coordinate in one dimension of the metadata. Parameters as the other form.
    public static func at<Metadata: Sendable, Value: YapDatabaseRTreeValue>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ value: Value.Bound, scale: Double = 1
    ) -> Self {
        Self(path: .metadata(path), value: value.columnValue, scale: scale)
    }
}

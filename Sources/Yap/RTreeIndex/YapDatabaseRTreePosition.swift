/// A coordinate of the point that the rows of a query are near to.
public struct YapDatabaseRTreePosition<Object: Sendable>: Sendable {
    let path: any AnyKeyPath & Sendable
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
        Self(path: path, value: value.columnValue, scale: scale)
    }
}

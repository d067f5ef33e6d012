/// What the rows of a view's groups are sorted by.
///
/// ```swift
/// sort: [.by(\.priority, .descending), .by { $0.title.lowercased() }]
/// ```
///
/// Values are ordered as SQLite orders them: no value first, then numbers, texts by their UTF-8 bytes ("Z" before "a"),
/// and bytes. The first 512 bytes of a text count. Rows that are equal in all are in the order of their rowids.
public struct YapDatabaseViewSort<Object: Sendable>: Sendable {
    /// A direction.
    public enum Order: Sendable { case ascending, descending }

    private let order: Order
    private let value: @Sendable (Object) -> YapDatabaseColumnValue

    /// Sorts by a property; rows that have equal values are sorted by the next sort.
    ///
    /// - Parameters:
    ///   - path: The property, stored or computed.
    ///   - order: The direction.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ path: any KeyPath<Object, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(order: order) { $0[keyPath: path].columnValue }
    }

    /// Sorts by a value that a closure computes. Change the view's version when it computes another.
    ///
    /// - Parameters:
    ///   - order: The direction.
    ///   - value: Computes the value of an object. Equal objects must have equal values.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ order: Order = .ascending, _ value: @escaping @Sendable (Object) -> Value
    ) -> Self {
        Self(order: order) { value($0).columnValue }
    }

    /// The sort key of an object.
    static func key(of object: Object, _ sorts: [Self]) -> [UInt8] {
        var key = ViewSortKey()
        for sort in sorts { key.append(sort.value(object), isDescending: sort.order == .descending) }
        return key.bytes
    }

    /// The directions, for the version of the view.
    static func shape(_ sorts: [Self]) -> String {
        sorts.map { $0.order == .ascending ? "+" : "-" }.joined()
    }
}

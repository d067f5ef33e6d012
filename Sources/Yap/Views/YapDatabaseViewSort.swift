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
    /// The type of the metadata that it sorts by, or nil.
    let metadataType: (any Sendable.Type)?
    private let value:
        @Sendable (_ key: String, _ object: Object, _ metadata: (any Sendable)?) -> YapDatabaseColumnValue

    /// Sorts by a property; rows that have equal values are sorted by the next sort.
    ///
    /// - Parameters:
    ///   - path: The property, stored or computed.
    ///   - order: The direction.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ path: any KeyPath<Object, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(order: order, metadataType: nil) { _, object, _ in object[keyPath: path].columnValue }
    }

    /// Sorts by a value that a closure computes. Change the view's version when it computes another.
    ///
    /// - Parameters:
    ///   - order: The direction.
    ///   - value: Computes the value of an object. Equal objects must have equal values.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ order: Order = .ascending, _ value: @escaping @Sendable (Object) -> Value
    ) -> Self {
        Self(order: order, metadataType: nil) { _, object, _ in value(object).columnValue }
    }

    /// Sorts by the rows' keys.
    ///
    /// - Parameter order: The direction.
    public static func byKey(_ order: Order = .ascending) -> Self {
        Self(order: order, metadataType: nil) { key, _, _ in .text(key) }
    }

    /// Sorts by a property of the rows' metadata. A row without metadata has no value.
    ///
    /// ```swift
    /// sort: [.by(metadata: \NoteInfo.downloadedAt, .descending)]
    /// ```
    ///
    /// The view then also follows writes that change only the metadata. Registering it throws `missingRegistration` or
    /// `typeMismatch` if the collection's metadata isn't registered with this type.
    ///
    /// - Parameters:
    ///   - path: The property, stored or computed.
    ///   - order: The direction.
    public static func by<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(order: order, metadataType: Metadata.self) { _, _, metadata in
            (metadata as? Metadata)?[keyPath: path].columnValue ?? .null
        }
    }

    /// Sorts by a value that a closure computes from key, object and metadata. All else as in the other forms.
    ///
    /// - Parameters:
    ///   - type: The type that the collection's metadata is registered with.
    ///   - order: The direction.
    ///   - value: Computes the value of a row; its metadata is nil if it has none.
    public static func by<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata type: Metadata.Type, _ order: Order = .ascending,
        _ value: @escaping @Sendable (_ key: String, _ object: Object, _ metadata: Metadata?) -> Value
    ) -> Self {
        Self(order: order, metadataType: type) { value($0, $1, $2 as? Metadata).columnValue }
    }

    /// The sort key of a row.
    static func key(_ key: String, _ object: Object, _ metadata: (any Sendable)?, _ sorts: [Self]) -> [UInt8]
    {
        var bytes = ViewSortKey()
        for sort in sorts {
            bytes.append(sort.value(key, object, metadata), isDescending: sort.order == .descending)
        }
        return bytes.bytes
    }

    /// The directions, for the version of the view.
    static func shape(_ sorts: [Self]) -> String {
        sorts.map { $0.order == .ascending ? "+" : "-" }.joined()
    }
}

/// A value to sort the rows of a view's groups by.
///
/// ```swift
/// let sort: [YapDatabaseViewSort<Todo>] = [.by(\.priority, .descending), .by { $0.title.lowercased() }]
/// ```
///
/// Values are in SQLite's order: missing values first, then numbers, texts by their UTF-8 bytes ("Z" before "a"), and
/// bytes. Only the first 512 bytes of a text count. Rows with equal values are in the order of their rowids.
public struct YapDatabaseViewSort<Object: Sendable>: Sendable {
    /// Direction of a sort.
    public enum Order: Sendable { case ascending, descending }

    /// A row to compare with `byRow`. `metadata` is nil if the row has none.
    public typealias Row<Metadata> = (key: String, object: Object, metadata: Metadata?)

    private enum Kind: Sendable {
        case value(Order, @Sendable (_ row: ViewSortRow<Object>) throws -> YapDatabaseColumnValue)
        case comparison(
            @Sendable (_ first: ViewSortRow<Object>, _ second: ViewSortRow<Object>) throws -> Bool)
    }

    private let kind: Kind
    /// Type of the metadata to sort by, or nil.
    let metadataType: (any Sendable.Type)?

    /// Sorts by a property. Rows with equal values are sorted by the next sort.
    ///
    /// - Parameters:
    ///   - path: The property, stored or computed.
    ///   - order: The direction.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ path: any KeyPath<Object, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(kind: .value(order) { try $0.object()[keyPath: path].columnValue }, metadataType: nil)
    }

    /// Sorts by a value that a closure computes. Change the view's version when it computes other values.
    ///
    /// - Parameters:
    ///   - order: The direction.
    ///   - value: Computes the value of an object. Equal objects must have equal values.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ order: Order = .ascending, _ value: @escaping @Sendable (Object) -> Value
    ) -> Self {
        Self(kind: .value(order) { value(try $0.object()).columnValue }, metadataType: nil)
    }

    /// Sorts by the rows' keys.
    ///
    /// - Parameter order: The direction.
    public static func byKey(_ order: Order = .ascending) -> Self {
        Self(kind: .value(order) { .text($0.key) }, metadataType: nil)
    }

    /// Sorts by a property of the rows' metadata. A row without metadata has no value.
    ///
    /// ```swift
    /// let sort: [YapDatabaseViewSort<Note>] = [.by(metadata: \NoteInfo.downloadedAt, .descending)]
    /// ```
    ///
    /// Writes that change only the metadata then update the view too. Registering the view throws
    /// `missingRegistration` or `typeMismatch` if the collection's metadata isn't registered with this type.
    ///
    /// - Parameters:
    ///   - path: The property, stored or computed.
    ///   - order: The direction.
    public static func by<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(
            kind: .value(order) { try $0.metadata(Metadata.self)?[keyPath: path].columnValue ?? .null },
            metadataType: Metadata.self)
    }

    /// Sorts by a value that a closure computes from key, object and metadata. For everything else see the other
    /// forms.
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata.
    ///   - order: The direction.
    ///   - value: Computes the value of a row. Its metadata is nil if it has none.
    public static func by<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata type: Metadata.Type, _ order: Order = .ascending,
        _ value: @escaping @Sendable (_ key: String, _ object: Object, _ metadata: Metadata?) -> Value
    ) -> Self {
        Self(
            kind: .value(order) { row in
                value(row.key, try row.object(), try row.metadata(type)).columnValue
            }, metadataType: type)
    }

    /// True if it compares rows, so that no sort key can be computed from one row.
    var isComparison: Bool { if case .comparison = kind { true } else { false } }

    /// Returns the sort key of a row for sorts that don't compare.
    static func key(_ row: ViewSortRow<Object>, _ sorts: [Self]) throws -> [UInt8] {
        var bytes = ViewSortKey()
        for sort in sorts {
            guard case .value(let order, let value) = sort.kind else { continue }
            bytes.append(try value(row), isDescending: order == .descending)
        }
        return bytes.bytes
    }

    /// Returns true if the first row precedes the second one. Equal rows are in the order of their rowids.
    static func precedes(
        _ first: ViewSortRow<Object>, _ second: ViewSortRow<Object>, _ sorts: [Self]
    ) throws -> Bool {
        for sort in sorts {
            switch sort.kind {
            case .value:
                let (key, otherKey) = (try key(first, [sort]), try key(second, [sort]))
                if key != otherKey { return key.lexicographicallyPrecedes(otherKey) }
            case .comparison(let areInIncreasingOrder):
                if try areInIncreasingOrder(first, second) { return true }
                if try areInIncreasingOrder(second, first) { return false }
            }
        }
        return first.rowID < second.rowID
    }

    /// Returns the directions, for the version of the view.
    static func shape(_ sorts: [Self]) -> String {
        sorts.map { sort in
            switch sort.kind {
            case .value(let order, _): order == .ascending ? "+" : "-"
            case .comparison: "<"
            }
        }.joined()
    }
}

/// Sorts by closures that compare two rows.
extension YapDatabaseViewSort {
    /// Sorts by comparing objects, as `sort(by:)` of an array does.
    ///
    /// ```swift
    /// let sort: [YapDatabaseViewSort<Todo>] = [
    ///     .by { $0.title.localizedStandardCompare($1.title) == .orderedAscending }
    /// ]
    /// ```
    ///
    /// No value of the row is stored. A written row is compared with its neighbours and, if it belongs elsewhere,
    /// with about log2(n) of the n rows of its group. Their objects are read for it. Prefer sorting by a value. A
    /// view that compares can't catch up: it is filled again when rows were written without it.
    ///
    /// - Parameter areInIncreasingOrder: Returns true if the first argument precedes the second. It must depend on
    ///   its arguments only and be a strict weak ordering; otherwise the order is unspecified. Equal objects are
    ///   sorted by the next sort, and finally by their rowids. An error fails the write transaction or the
    ///   registration. Change the view's version when it decides differently.
    public static func by(
        areInIncreasingOrder: @escaping @Sendable (_ first: Object, _ second: Object) throws -> Bool
    ) -> Self {
        Self(
            kind: .comparison { try areInIncreasingOrder($0.object(), $1.object()) }, metadataType: nil)
    }

    /// Sorts by comparing the rows' keys. No object is read. For everything else see the form with objects.
    public static func byKey(
        areInIncreasingOrder: @escaping @Sendable (_ first: String, _ second: String) throws -> Bool
    ) -> Self {
        Self(kind: .comparison { try areInIncreasingOrder($0.key, $1.key) }, metadataType: nil)
    }

    /// Sorts by comparing the rows' metadata. No object is read. For everything else see the form with objects.
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata. Writes that change only the metadata update the
    ///     view too.
    ///   - areInIncreasingOrder: Returns true if the first argument precedes the second. Metadata is nil for a row
    ///     without any.
    public static func by<Metadata: Sendable>(
        metadata type: Metadata.Type,
        areInIncreasingOrder: @escaping @Sendable (_ first: Metadata?, _ second: Metadata?) throws -> Bool
    ) -> Self {
        Self(
            kind: .comparison { try areInIncreasingOrder($0.metadata(type), $1.metadata(type)) },
            metadataType: type)
    }

    /// Sorts by comparing keys, objects and metadata. Parameters: see the form with metadata.
    public static func byRow<Metadata: Sendable>(
        metadata type: Metadata.Type,
        areInIncreasingOrder:
            @escaping @Sendable (_ first: Row<Metadata>, _ second: Row<Metadata>) throws -> Bool
    ) -> Self {
        Self(
            kind: .comparison { first, second in
                try areInIncreasingOrder(
                    (first.key, first.object(), first.metadata(type)),
                    (second.key, second.object(), second.metadata(type)))
            }, metadataType: type)
    }
}

/// Properties of an index, in the closure of a query: `$0.due` is the column of `\.due`.
@dynamicMemberLookup
public struct YapDatabaseIndexProperties<Object: Sendable>: Sendable {
    init() {}

    /// Returns the column of a property. The query throws if the index has none.
    public subscript<Value: YapDatabaseColumnConvertible>(
        dynamicMember path: any KeyPath<Object, Value> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value> {
        YapDatabaseIndexColumn(path: path)
    }

    /// Returns the column of a property of the metadata. It has no value for a row without metadata. The query throws
    /// if the index has none.
    ///
    /// ```swift
    /// let old = try transaction[index].rows(where: {
    ///     $0.kind == .article && $0[metadata: \NoteInfo.downloadedAt] < now
    /// })
    /// ```
    public subscript<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value?> {
        YapDatabaseIndexColumn(path: .metadata(path))
    }

    /// Returns the column of an optional property of the metadata.
    public subscript<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value?> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value?> {
        YapDatabaseIndexColumn(path: .metadata(path))
    }
}

/// A column to compare with a value. `<` and the other comparisons never find rows without a value; `==` and `!=`
/// treat nil as a value.
public struct YapDatabaseIndexColumn<Object: Sendable, Value: YapDatabaseColumnConvertible>: Sendable {
    let path: IndexColumnPath

    init(path: IndexColumnPath) { self.path = path }

    init(path: any KeyPath<Object, Value> & Sendable) { self.path = .object(path) }

    /// Finds rows with a value that equals this one.
    public static func == (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("=", value)
    }

    /// Finds rows with a value other than this one.
    public static func != (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        !(column == value)
    }

    /// Finds rows with a value less than this one.
    public static func < (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("<", value)
    }

    /// Finds rows with a value less than or equal to this one.
    public static func <= (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("<=", value)
    }

    /// Finds rows with a value greater than this one.
    public static func > (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare(">", value)
    }

    /// Finds rows with a value greater than or equal to this one.
    public static func >= (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare(">=", value)
    }

    /// Finds rows with one of these values. With more than `YapDatabaseIndexCondition.valuesMax`, the query throws.
    public func isOne(of values: some Sequence<Value>) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.isOne(path, values.map(\.columnValue)))
    }

    private func compare(_ comparison: String, _ value: Value) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.compare(path, comparison, value.columnValue))
    }
}

extension YapDatabaseIndexColumn where Value == Bool {
    /// Finds rows with the value false.
    public static prefix func ! (column: Self) -> YapDatabaseIndexCondition<Object> { column == false }
}

extension YapDatabaseIndexColumn where Value == String {
    /// Finds rows with a text that begins with this one, compared by bytes.
    public func hasPrefix(_ prefix: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.hasPrefix(path, prefix))
    }

    /// Finds rows with a text that contains this one, compared by bytes. Scans all rows that the rest of the query
    /// finds.
    public func contains(_ text: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.contains(path, text))
    }
}

extension YapDatabaseIndexColumn where Value == String? {
    /// Finds rows with a text that begins with this one, compared by bytes.
    public func hasPrefix(_ prefix: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.hasPrefix(path, prefix))
    }

    /// Finds rows with a text that contains this one, compared by bytes. Scans all rows that the rest of the query
    /// finds.
    public func contains(_ text: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.contains(path, text))
    }
}

/// Condition of a query on an index.
public struct YapDatabaseIndexCondition<Object: Sendable>: Sendable {
    /// Maximum values in a query.
    public static var valuesMax: Int { 10_000 }

    typealias Path = IndexColumnPath

    indirect enum Node: Sendable {
        case compare(Path, String, YapDatabaseColumnValue)
        case isOne(Path, [YapDatabaseColumnValue])
        case hasPrefix(Path, String)
        case contains(Path, String)
        case and(Node, Node)
        case or(Node, Node)
        case not(Node)
    }

    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// Finds rows that match both conditions.
    public static func && (left: Self, right: Self) -> Self { Self(.and(left.node, right.node)) }

    /// Finds rows that match at least one of the conditions.
    public static func || (left: Self, right: Self) -> Self { Self(.or(left.node, right.node)) }

    /// Finds rows of the index that don't match the condition.
    public static prefix func ! (condition: Self) -> Self { Self(.not(condition.node)) }
}

/// A value to sort the rows of a query by.
public struct YapDatabaseIndexSort<Object: Sendable>: Sendable {
    /// Direction of a sort. Rows without a value are the smallest.
    public enum Order: Sendable { case ascending, descending }

    let path: IndexColumnPath
    let order: Order

    /// Sorts by a property. Rows with equal values are sorted by the next sort.
    public static func by<Value: YapDatabaseColumnConvertible>(
        _ path: any KeyPath<Object, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(path: .object(path), order: order)
    }

    /// Sorts by a property of the metadata. Rows without metadata are the smallest.
    public static func by<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ order: Order = .ascending
    ) -> Self {
        Self(path: .metadata(path), order: order)
    }
}

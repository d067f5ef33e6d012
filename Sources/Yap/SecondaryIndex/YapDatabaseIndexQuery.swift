/// The properties of an index, in the closure of a query: `$0.due` is the column of `\.due`.
@dynamicMemberLookup
public struct YapDatabaseIndexProperties<Object: Sendable>: Sendable {
    init() {}

    /// The column of a property. The query throws when the index has none.
    public subscript<Value: YapDatabaseColumnConvertible>(
        dynamicMember path: any KeyPath<Object, Value> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value> {
        YapDatabaseIndexColumn(path: path)
    }

    /// The column of a property of the metadata, which has no value for a row without metadata. The query throws when
    /// the index has none.
    ///
    /// ```swift
    /// try $0[index].rows(where: { $0.kind == .article && $0[metadata: \NoteInfo.downloadedAt] < now })
    /// ```
    public subscript<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value?> {
        YapDatabaseIndexColumn(path: .metadata(path))
    }

    /// The column of a property of the metadata that may have no value.
    public subscript<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value?> & Sendable
    ) -> YapDatabaseIndexColumn<Object, Value?> {
        YapDatabaseIndexColumn(path: .metadata(path))
    }
}

/// A column that a query compares with a value. A comparison with `<` and its like finds no row without a value; `==`
/// and `!=` take nil for a value like others.
public struct YapDatabaseIndexColumn<Object: Sendable, Value: YapDatabaseColumnConvertible>: Sendable {
    let path: IndexColumnPath

    init(path: IndexColumnPath) { self.path = path }

    init(path: any KeyPath<Object, Value> & Sendable) { self.path = .object(path) }

    /// Rows whose value is this one.
    public static func == (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("=", value)
    }

    /// Rows whose value is another one.
    public static func != (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        !(column == value)
    }

    /// Rows whose value is less.
    public static func < (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("<", value)
    }

    /// Rows whose value is less or equal.
    public static func <= (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare("<=", value)
    }

    /// Rows whose value is greater.
    public static func > (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare(">", value)
    }

    /// Rows whose value is greater or equal.
    public static func >= (column: Self, value: Value) -> YapDatabaseIndexCondition<Object> {
        column.compare(">=", value)
    }

    /// Rows whose value is one of these: at most `YapDatabaseIndexCondition.valuesMax`, or the query throws.
    public func isOne(of values: some Sequence<Value>) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.isOne(path, values.map(\.columnValue)))
    }

    private func compare(_ comparison: String, _ value: Value) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.compare(path, comparison, value.columnValue))
    }
}

extension YapDatabaseIndexColumn where Value == Bool {
    /// Rows whose value is false.
    public static prefix func ! (column: Self) -> YapDatabaseIndexCondition<Object> { column == false }
}

extension YapDatabaseIndexColumn where Value == String {
    /// Rows whose text begins with this one, byte by byte.
    public func hasPrefix(_ prefix: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.hasPrefix(path, prefix))
    }

    /// Rows whose text has this one in it, byte by byte. Goes through all rows that the rest of the query leaves.
    public func contains(_ text: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.contains(path, text))
    }
}

extension YapDatabaseIndexColumn where Value == String? {
    /// Rows whose text begins with this one, byte by byte.
    public func hasPrefix(_ prefix: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.hasPrefix(path, prefix))
    }

    /// Rows whose text has this one in it, byte by byte. Goes through all rows that the rest of the query leaves.
    public func contains(_ text: String) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.contains(path, text))
    }
}

/// Which rows of an index a query finds.
public struct YapDatabaseIndexCondition<Object: Sendable>: Sendable {
    /// The most values in a query.
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

    /// Rows that both conditions find.
    public static func && (left: Self, right: Self) -> Self { Self(.and(left.node, right.node)) }

    /// Rows that one of the conditions finds, or both.
    public static func || (left: Self, right: Self) -> Self { Self(.or(left.node, right.node)) }

    /// The rows of the index that the condition doesn't find.
    public static prefix func ! (condition: Self) -> Self { Self(.not(condition.node)) }
}

/// What the rows of a query are sorted by.
public struct YapDatabaseIndexSort<Object: Sendable>: Sendable {
    /// A direction. Rows without a value are the smallest.
    public enum Order: Sendable { case ascending, descending }

    let path: IndexColumnPath
    let order: Order

    /// Sorts by a property, and with equal ones as the next sort says.
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

/// Describes the dimensions of an index. Used in the closure of `YapDatabaseRTreeIndex.init`.
public struct YapDatabaseRTreeDimensions<Object: Sendable> {
    /// The most dimensions that SQLite's R-trees have.
    public static var dimensionsMax: Int { 5 }

    /// The properties, whose exact values the index has too.
    private var properties = YapDatabaseIndexColumns<Object>()
    private(set) var dimensions: [RTreeDimension] = []

    init() {}

    var columns: [YapDatabaseIndexColumns<Object>.Column] { properties.columns }

    /// What is wrong, in words.
    var mistakes: [String] {
        var mistakes = properties.mistakes
        if dimensions.isEmpty || dimensions.count > Self.dimensionsMax {
            mistakes.append(
                "the index has \(dimensions.count) dimensions: it must have 1 to \(Self.dimensionsMax)")
        }
        let names = (dimensions.flatMap { [$0.lower, $0.upper] } + columns.map(\.name)).map {
            $0.lowercased()
        }
        if Set(names).count < names.count {
            mistakes.append("a property is called like a bound of another one")
        }
        return mistakes
    }

    /// Adds a dimension in which each object has one value.
    ///
    /// - Parameters:
    ///   - path: The property.
    ///   - name: The column's name in the file, and in SQL. Without it, it is the property's, with `_` for each `.`; a
    ///     computed property needs one, and so does each in a build without reflection metadata. The bounds, which the
    ///     tree finds rows by, are called the same with `_min` and `_max`.
    public mutating func dimension<Value: YapDatabaseRTreeValue>(
        _ path: any KeyPath<Object, Value> & Sendable, _ name: String? = nil
    ) {
        guard let place = add({ $0.column(path, name, isIndexed: false) }) else { return }
        dimensions.append(RTreeDimension(from: place, to: place, names: columns.map(\.name)))
    }

    /// Adds a dimension in which each object has a range. An object whose range ends before it begins isn't indexed.
    ///
    /// - Parameters:
    ///   - from: The property with the first value of the range.
    ///   - fromName: The column's name, as `dimension(_:_:)`. Its lower bound is called the same with `_min`.
    ///   - to: The property with the last value.
    ///   - toName: The column's name. Its upper bound is called the same with `_max`.
    public mutating func dimension<From: YapDatabaseRTreeValue, To: YapDatabaseRTreeValue>(
        from: any KeyPath<Object, From> & Sendable, _ fromName: String? = nil,
        to: any KeyPath<Object, To> & Sendable, _ toName: String? = nil
    ) where From.Bound == To.Bound {
        guard let first = add({ $0.column(from, fromName, isIndexed: false) }),
            let last = add({ $0.column(to, toName, isIndexed: false) })
        else { return }
        dimensions.append(RTreeDimension(from: first, to: last, names: columns.map(\.name)))
    }

    /// Adds a dimension of a property of the rows' metadata. A row without metadata isn't indexed. The index then also
    /// follows writes that change only the metadata. Parameters as `dimension(_:_:)`.
    public mutating func dimension<Metadata: Sendable, Value: YapDatabaseRTreeValue>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ name: String? = nil
    ) {
        guard let place = add({ $0.column(metadata: path, name, isIndexed: false) }) else { return }
        dimensions.append(RTreeDimension(from: place, to: place, names: columns.map(\.name)))
    }

    /// Adds a dimension of a range of the rows' metadata. Parameters as `dimension(from:_:to:_:)`.
    public mutating func dimension<
        Metadata: Sendable, From: YapDatabaseRTreeValue, To: YapDatabaseRTreeValue
    >(
        metadataFrom from: any KeyPath<Metadata, From> & Sendable, _ fromName: String? = nil,
        to: any KeyPath<Metadata, To> & Sendable, _ toName: String? = nil
    ) where From.Bound == To.Bound {
        guard let first = add({ $0.column(metadata: from, fromName, isIndexed: false) }),
            let last = add({ $0.column(metadata: to, toName, isIndexed: false) })
        else { return }
        dimensions.append(RTreeDimension(from: first, to: last, names: columns.map(\.name)))
    }

    /// Returns the column's place; nil if there is a mistake.
    private mutating func add(_ column: (inout YapDatabaseIndexColumns<Object>) -> Void) -> Int? {
        column(&properties)
        return properties.mistakes.isEmpty ? properties.columns.count - 1 : nil
    }
}

/// A dimension of a tree: the places of its properties' columns, and the names of its two bounds.
struct RTreeDimension: Sendable {
    let from: Int
    let to: Int
    let lower: String
    let upper: String

    init(from: Int, to: Int, names: [String]) {
        (self.from, self.to) = (from, to)
        (lower, upper) = ("\(names[from])_min", "\(names[to])_max")
    }

    /// The bounds of an object's range; nil if it has none: no value, NaN, or an end before the beginning.
    func bounds(_ values: [YapDatabaseColumnValue]) -> [YapDatabaseColumnValue]? {
        guard let order = values[from].compared(to: values[to]), order != .greater,
            let lower = values[from].rTreeLower, let upper = values[to].rTreeUpper
        else { return nil }
        return [.real(lower), .real(upper)]
    }
}

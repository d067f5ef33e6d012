/// Describes the dimensions of an index. Used in the closure of `YapDatabaseRTreeIndex.init`.
public struct YapDatabaseRTreeDimensions<Object: Sendable> {
    /// Maximum dimensions of SQLite's R-trees.
    public static var dimensionsMax: Int { 5 }

    /// The properties. The index stores their exact values too.
    private var properties = YapDatabaseIndexColumns<Object>()
    private(set) var dimensions: [RTreeDimension] = []

    init() {}

    var columns: [YapDatabaseIndexColumns<Object>.Column] { properties.columns }

    /// Descriptions of mistakes.
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
    ///   - name: Name of the column in the file, and in SQL. Default: the property's name, with `_` for each `.`.
    ///     Required for a computed property, and in builds without reflection metadata. The names of the bounds, by
    ///     which the tree finds rows, have the suffixes `_min` and `_max`.
    public mutating func dimension<Value: YapDatabaseRTreeValue>(
        _ path: any KeyPath<Object, Value> & Sendable, _ name: String? = nil
    ) {
        guard let place = add({ $0.column(path, name, isIndexed: false) }) else { return }
        dimensions.append(RTreeDimension(from: place, to: place, names: columns.map(\.name)))
    }

    /// Adds a dimension in which each object has a range. An object isn't indexed if its range ends before it begins.
    ///
    /// - Parameters:
    ///   - from: The property with the first value of the range.
    ///   - fromName: Name of its column: see `dimension(_:_:)`. The lower bound has the suffix `_min`.
    ///   - to: The property with the last value.
    ///   - toName: Name of its column. The upper bound has the suffix `_max`.
    public mutating func dimension<From: YapDatabaseRTreeValue, To: YapDatabaseRTreeValue>(
        from: any KeyPath<Object, From> & Sendable, _ fromName: String? = nil,
        to: any KeyPath<Object, To> & Sendable, _ toName: String? = nil
    ) where From.Bound == To.Bound {
        guard let first = add({ $0.column(from, fromName, isIndexed: false) }),
            let last = add({ $0.column(to, toName, isIndexed: false) })
        else { return }
        dimensions.append(RTreeDimension(from: first, to: last, names: columns.map(\.name)))
    }

    /// Adds a dimension of a property of the rows' metadata. A row without metadata isn't indexed. Writes that change
    /// only the metadata then update the index too. Parameters: see `dimension(_:_:)`.
    public mutating func dimension<Metadata: Sendable, Value: YapDatabaseRTreeValue>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ name: String? = nil
    ) {
        guard let place = add({ $0.column(metadata: path, name, isIndexed: false) }) else { return }
        dimensions.append(RTreeDimension(from: place, to: place, names: columns.map(\.name)))
    }

    /// Adds a dimension of a range of the rows' metadata. Parameters: see `dimension(from:_:to:_:)`.
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

    /// Returns the column's index, or nil if there is a mistake.
    private mutating func add(_ column: (inout YapDatabaseIndexColumns<Object>) -> Void) -> Int? {
        column(&properties)
        return properties.mistakes.isEmpty ? properties.columns.count - 1 : nil
    }
}

/// A dimension of a tree: the indexes of its properties' columns, and the names of its two bounds.
struct RTreeDimension: Sendable {
    let from: Int
    let to: Int
    let lower: String
    let upper: String

    init(from: Int, to: Int, names: [String]) {
        (self.from, self.to) = (from, to)
        (lower, upper) = ("\(names[from])_min", "\(names[to])_max")
    }

    /// Returns the bounds of an object's range. Nil if it has no value, a NaN, or an end before the beginning.
    func bounds(_ values: [YapDatabaseColumnValue]) -> [YapDatabaseColumnValue]? {
        guard let order = values[from].compared(to: values[to]), order != .greater,
            let lower = values[from].rTreeLower, let upper = values[to].rTreeUpper
        else { return nil }
        return [.real(lower), .real(upper)]
    }
}

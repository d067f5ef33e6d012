import Yap

/// A place in a row: the key, or a value in its object or its metadata.
struct RowPath: Hashable {
    enum Root: Hashable { case key, object, metadata }
    enum Step: Hashable {
        case name(String)
        /// An element of an array. A negative index counts from the end.
        case index(Int)
    }

    let root: Root
    let steps: [Step]
    /// The source text.
    let text: String

    /// Returns the value, or nil if the row has none there.
    func value(in row: DatabaseFile.Row) -> StoredValue? {
        var value: StoredValue? =
            switch root {
            case .key: .text(row.key)
            case .object: row.object
            case .metadata: row.metadata
            }
        for step in steps {
            switch (step, value) {
            case (.name(let name), .map(let entries)):
                value =
                    entries.first { entry in
                        guard case .text(let key) = entry.key else { return false }
                        return key.utf8.elementsEqual(name.utf8)
                    }?.value
            case (.index(let index), .array(let values)):
                let position = index < 0 ? values.count + index : index
                value = values.indices.contains(position) ? values[position] : nil
            default: return nil
            }
        }
        return value
    }
}

/// Condition of `yap db query --where`.
indirect enum RowFilter {
    enum Comparison {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, contains, beginsWith, endsWith
    }

    enum Operand {
        case path(RowPath)
        case value(StoredValue)
    }

    case all([RowFilter])
    case any([RowFilter])
    case not(RowFilter)
    case compared(Operand, Comparison, Operand)
    case isIn(Operand, [Operand])
    case isTrue(RowPath)

    /// The paths that it reads.
    var paths: [RowPath] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.paths)
        case .not(let part): part.paths
        case .compared(let left, _, let right): [left, right].compactMap(\.path)
        case .isIn(let left, let others): ([left] + others).compactMap(\.path)
        case .isTrue(let path): [path]
        }
    }

    /// Returns true if a row matches. An absent value equals null, and is neither less nor greater than any value.
    func holds(for row: DatabaseFile.Row) -> Bool {
        switch self {
        case .all(let parts): parts.allSatisfy { $0.holds(for: row) }
        case .any(let parts): parts.contains { $0.holds(for: row) }
        case .not(let part): !part.holds(for: row)
        case .compared(let left, let comparison, let right):
            comparison.holds(left.value(in: row) ?? .null, right.value(in: row) ?? .null)
        case .isIn(let left, let others):
            others.contains {
                Comparison.equal.holds(left.value(in: row) ?? .null, $0.value(in: row) ?? .null)
            }
        case .isTrue(let path): path.value(in: row) == .bool(true)
        }
    }
}

extension RowFilter.Operand {
    var path: RowPath? {
        guard case .path(let path) = self else { return nil }
        return path
    }

    fileprivate func value(in row: DatabaseFile.Row) -> StoredValue? {
        switch self {
        case .path(let path): path.value(in: row)
        case .value(let value): value
        }
    }
}

extension RowFilter.Comparison {
    fileprivate func holds(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch self {
        case .equal: StoredValueOrder.areEqual(left, right)
        case .notEqual: !StoredValueOrder.areEqual(left, right)
        case .less: StoredValueOrder.compared(left, right).map { $0 < 0 } ?? false
        case .lessOrEqual: StoredValueOrder.compared(left, right).map { $0 <= 0 } ?? false
        case .greater: StoredValueOrder.compared(left, right).map { $0 > 0 } ?? false
        case .greaterOrEqual: StoredValueOrder.compared(left, right).map { $0 >= 0 } ?? false
        case .contains: Self.contains(left, right)
        case .beginsWith: Self.texts(left, right).map { $0.starts(with: $1) } ?? false
        case .endsWith: Self.texts(left, right).map { $0.reversed().starts(with: $1.reversed()) } ?? false
        }
    }

    private static func contains(_ left: StoredValue, _ right: StoredValue) -> Bool {
        if case .array(let values) = left { return values.contains { StoredValueOrder.areEqual($0, right) } }
        guard let (text, part) = texts(left, right) else { return false }
        return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
    }

    private static func texts(_ left: StoredValue, _ right: StoredValue) -> ([UInt8], [UInt8])? {
        guard case .text(let one) = left, case .text(let other) = right else { return nil }
        return (Array(one.utf8), Array(other.utf8))
    }
}

/// Comparison of stored values.
enum StoredValueOrder {
    /// Returns true if both are the same value. Numbers are compared by value.
    static func areEqual(_ left: StoredValue, _ right: StoredValue) -> Bool {
        if isNumber(left), isNumber(right) { return numbers(left, right) == 0 }
        if case .text(let one) = left, case .text(let other) = right {
            return one.utf8.elementsEqual(other.utf8)
        }
        return left == right
    }

    /// Returns a number below 0 if `left` comes first, 0 if both are equal, and nil if they can't be compared:
    /// numbers compare with numbers, and texts by their bytes with texts.
    static func compared(_ left: StoredValue, _ right: StoredValue) -> Int? {
        if isNumber(left), isNumber(right) { return numbers(left, right) }
        guard case .text(let one) = left, case .text(let other) = right else { return nil }
        return bytes(Array(one.utf8), Array(other.utf8))
    }

    /// Order of all values for sorting: absent, null, false, true, numbers, texts, bytes, and then all others.
    static func sorted(_ left: StoredValue?, _ right: StoredValue?) -> Int {
        let (one, other) = (rank(left), rank(right))
        guard one == other, let left, let right else { return one < other ? -1 : one > other ? 1 : 0 }
        if case .bytes(let one) = left, case .bytes(let other) = right { return bytes(one, other) }
        // NaN comes before all numbers.
        let isNaN = (
            isNumber(left) && numbers(left, left) == nil, isNumber(right) && numbers(right, right) == nil
        )
        if isNaN.0 || isNaN.1 { return isNaN.0 == isNaN.1 ? 0 : isNaN.0 ? -1 : 1 }
        return compared(left, right) ?? 0
    }

    private static func rank(_ value: StoredValue?) -> Int {
        switch value {
        case nil: 0
        case .null: 1
        case .bool(false): 2
        case .bool(true): 3
        case .integer, .unsigned, .double, .float: 4
        case .text: 5
        case .bytes: 6
        case .array, .map, .foreign: 7
        }
    }

    private static func isNumber(_ value: StoredValue) -> Bool { rank(value) == 4 }

    private static func numbers(_ left: StoredValue, _ right: StoredValue) -> Int? {
        switch (left, right) {
        case (.float(let one), _): return numbers(.double(Double(one)), right)
        case (_, .float(let other)): return numbers(left, .double(Double(other)))
        case (.double(let one), .double(let other)):
            return one.isNaN || other.isNaN ? nil : one < other ? -1 : one > other ? 1 : 0
        case (.integer(let one), .integer(let other)): return one < other ? -1 : one > other ? 1 : 0
        case (.unsigned(let one), .unsigned(let other)): return one < other ? -1 : one > other ? 1 : 0
        case (.integer, .unsigned): return -1
        case (.unsigned, .integer): return 1
        case (.integer(let one), .double(let other)): return whole(one, other)
        case (.double(let one), .integer(let other)): return whole(other, one).map { -$0 }
        case (.unsigned(let one), .double(let other)): return whole(one, other)
        case (.double(let one), .unsigned(let other)): return whole(other, one).map { -$0 }
        default: return nil
        }
    }

    /// Compares without rounding, because a double can't hold all digits of a large integer.
    private static func whole<Whole: FixedWidthInteger>(_ one: Whole, _ other: Double) -> Int? {
        if other.isNaN { return nil }
        guard let floor = Whole(exactly: other.rounded(.down)) else { return other < 0 ? 1 : -1 }
        if one != floor { return one < floor ? -1 : 1 }
        return other > other.rounded(.down) ? -1 : 0
    }

    private static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left == right { return 0 }
        return left.lexicographicallyPrecedes(right) ? -1 : 1
    }
}

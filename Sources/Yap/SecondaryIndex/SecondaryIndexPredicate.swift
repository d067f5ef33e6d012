/// A query's condition evaluated with SQLite's semantics on the columns of one row.
///
/// SQL's NULL counts as false: no condition distinguishes them, because a negated one is `IS NOT TRUE`.
struct SecondaryIndexPredicate: Sendable {
    typealias Columns = [YapDatabaseColumnValue]
    typealias Test = @Sendable (Columns) -> Bool

    private let test: Test

    init(_ test: @escaping Test) { self.test = test }

    /// - Parameter place: Returns the index of a property's column.
    init<Object>(
        _ condition: YapDatabaseIndexCondition<Object>, place: (IndexColumnPath) throws -> Int
    ) throws {
        test = try Self.test(condition.node, place)
    }

    /// Returns true if the query finds the row.
    func finds(_ columns: Columns) -> Bool { test(columns) }

    private static func test<Object>(
        _ node: YapDatabaseIndexCondition<Object>.Node, _ place: (IndexColumnPath) throws -> Int
    ) throws -> Test {
        switch node {
        case .compare(let path, let comparison, let value):
            return compare(try place(path), comparison, value)
        case .isOne(let path, let values):
            let place = try place(path)
            let findsNull = values.contains(.null)
            return { columns in
                let column = columns[place]
                return findsNull && column.isStoredAsNull
                    || values.contains { column.compared(to: $0) == .same }
            }
        case .hasPrefix(let path, let prefix):
            let place = try place(path)
            return { $0[place].textBytes?.starts(with: prefix.utf8) ?? false }
        case .contains(let path, let text):
            let place = try place(path)
            return { $0[place].textBytes.map { contains($0, text.utf8) } ?? false }
        case .and(let left, let right):
            let (left, right) = (try test(left, place), try test(right, place))
            return { left($0) && right($0) }
        case .or(let left, let right):
            let (left, right) = (try test(left, place), try test(right, place))
            return { left($0) || right($0) }
        case .not(let node):
            let test = try test(node, place)
            return { !test($0) }
        }
    }

    private static func compare(
        _ place: Int, _ comparison: String, _ value: YapDatabaseColumnValue
    ) -> Test {
        if value == .null {
            // `IS NULL`. No other comparison with null finds a row.
            return { columns in comparison == "=" && columns[place].isStoredAsNull }
        }
        let isWanted: @Sendable (SQLiteOrder) -> Bool =
            switch comparison {
            case "=": { $0 == .same }
            case "<": { $0 == .less }
            case "<=": { $0 != .greater }
            case ">": { $0 == .greater }
            default: { $0 != .less }
            }
        return { columns in columns[place].compared(to: value).map(isWanted) ?? false }
    }

    private static func contains(_ text: String.UTF8View, _ wanted: String.UTF8View) -> Bool {
        guard let first = wanted.first else { return true }
        var rest = text[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: wanted) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

extension YapDatabaseColumnValue {
    /// The bytes of a text. Nil for other values.
    fileprivate var textBytes: String.UTF8View? {
        if case .text(let text) = self { text.utf8 } else { nil }
    }
}

/// Two properties of an index that are the ends of a range, in the closure of a query.
///
/// ```swift
/// let open = try transaction[shops].rows(where: { ($0.opens...$0.closes).contains(noon) })
/// ```
public struct YapDatabaseIndexRange<Object: Sendable, Bound: Comparable & YapDatabaseColumnConvertible>:
    Sendable
{
    let from: IndexColumnPath
    let to: IndexColumnPath

    /// Finds rows with a range that overlaps this one.
    public func overlaps(_ range: ClosedRange<Bound>) -> YapDatabaseIndexCondition<Object> {
        compare(from, "<=", range.upperBound) && compare(to, ">=", range.lowerBound)
    }

    /// Finds rows with a range completely within this one.
    public func isInside(_ range: ClosedRange<Bound>) -> YapDatabaseIndexCondition<Object> {
        compare(from, ">=", range.lowerBound) && compare(to, "<=", range.upperBound)
    }

    /// Finds rows with a range that contains all of this one.
    public func contains(_ range: ClosedRange<Bound>) -> YapDatabaseIndexCondition<Object> {
        compare(from, "<=", range.lowerBound) && compare(to, ">=", range.upperBound)
    }

    /// Finds rows with a range that contains this value.
    public func contains(_ value: Bound) -> YapDatabaseIndexCondition<Object> {
        compare(from, "<=", value) && compare(to, ">=", value)
    }

    private func compare(
        _ path: IndexColumnPath, _ comparison: String, _ bound: Bound
    ) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexCondition(.compare(path, comparison, bound.columnValue))
    }
}

extension YapDatabaseIndexColumn where Value: YapDatabaseRTreeValue {
    /// Returns the range from one property to another.
    public static func ... <End: YapDatabaseRTreeValue>(
        from: Self, to: YapDatabaseIndexColumn<Object, End>
    ) -> YapDatabaseIndexRange<Object, Value.Bound> where End.Bound == Value.Bound {
        YapDatabaseIndexRange(from: from.path, to: to.path)
    }

    /// Finds rows with a value in a range.
    public func isInside(_ range: ClosedRange<Value.Bound>) -> YapDatabaseIndexCondition<Object> {
        YapDatabaseIndexRange(from: path, to: path).isInside(range)
    }
}

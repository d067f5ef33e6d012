/// What one commit changed in an index, for observations.
struct SecondaryIndexChanges: YapDatabaseCountedChanges {
    /// One change of a row. A row that is changed twice has two.
    struct Row: Sendable {
        /// The columns before; nil when the row wasn't in the index.
        let before: [YapDatabaseColumnValue]?
        /// The columns after; nil when the row is no longer in the index.
        let after: [YapDatabaseColumnValue]?
    }

    private(set) var rows: [Row] = []
    /// Whether any row may have changed: all were removed, or there were more changes than a commit names.
    var isOfAll: Bool

    init(isOfAll: Bool = false) { self.isOfAll = isOfAll }

    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty && !isOfAll }

    /// Notes a change. Beyond `max` changes all rows count as changed.
    mutating func note(before: [YapDatabaseColumnValue]?, after: [YapDatabaseColumnValue]?, max: Int) {
        guard before != nil || after != nil else { return }
        if rows.count < max { rows.append(Row(before: before, after: after)) } else { isOfAll = true }
    }

    /// Goes back to an earlier state of this value.
    mutating func restore(count: Int, isOfAll: Bool) {
        rows.removeLast(rows.count - count)
        self.isOfAll = isOfAll
    }

    /// Whether the result of a query may have changed.
    ///
    /// - Parameters:
    ///   - predicate: The query's condition; nil: it finds all rows.
    ///   - readsObjects: Whether properties that are no columns are a part of the result. Otherwise a row with the same
    ///     columns as before has changed nothing.
    func mayChange(_ predicate: SecondaryIndexPredicate?, readsObjects: Bool) -> Bool {
        isOfAll
            || rows.contains { row in
                guard readsObjects || row.before != row.after else { return false }
                guard let predicate else { return true }
                return [row.before, row.after].contains { $0.map { predicate.finds($0) } ?? false }
            }
    }
}

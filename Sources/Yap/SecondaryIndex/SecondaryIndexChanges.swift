/// Parts of the found rows that a query reads.
enum IndexReads: Sendable {
    /// Columns and keys.
    case columns
    /// Whole objects too.
    case objects
    /// Whole objects or the columns, and the metadata too.
    case rows
}

/// Changes of an index in one commit, for observations.
struct SecondaryIndexChanges: YapDatabaseCountedChanges {
    /// One change of a row. A row that is changed twice has two.
    struct Row: Sendable {
        /// The columns before. Nil if the row wasn't in the index.
        let before: [YapDatabaseColumnValue]?
        /// The columns after. Nil if the row is no longer in the index.
        let after: [YapDatabaseColumnValue]?
        /// True if only the metadata was set or touched.
        let isOfMetadata: Bool
    }

    private(set) var rows: [Row] = []
    /// True if any row may have changed, because all were removed, or there were more changes than a commit names.
    var isOfAll: Bool

    init(isOfAll: Bool = false) { self.isOfAll = isOfAll }

    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty && !isOfAll }

    /// Records a change. Beyond `max` changes all rows count as changed.
    mutating func note(_ row: Row, max: Int) {
        guard row.before != nil || row.after != nil else { return }
        if rows.count < max { rows.append(row) } else { isOfAll = true }
    }

    /// Restores an earlier state of this value.
    mutating func restore(count: Int, isOfAll: Bool) {
        rows.removeLast(rows.count - count)
        self.isOfAll = isOfAll
    }

    /// Returns true if the result of a query may have changed.
    ///
    /// - Parameters:
    ///   - predicate: The query's condition. Nil if it finds all rows.
    ///   - reads: Parts of the result besides the columns. If none of them was set, a row with the same columns as
    ///     before hasn't changed the result.
    func mayChange(_ predicate: SecondaryIndexPredicate?, reads: IndexReads) -> Bool {
        isOfAll
            || rows.contains { row in
                guard reads.concern(row) || row.before != row.after else { return false }
                guard let predicate else { return true }
                return [row.before, row.after].contains { $0.map { predicate.finds($0) } ?? false }
            }
    }
}

extension IndexReads {
    /// Returns true if a change of a row changes the parts that are read besides the columns.
    fileprivate func concern(_ row: SecondaryIndexChanges.Row) -> Bool {
        switch self {
        case .columns: false
        case .objects: !row.isOfMetadata
        case .rows: true
        }
    }
}

/// What a query reads of the rows that it finds.
enum IndexReads: Sendable {
    /// Columns and keys.
    case columns
    /// Whole objects too.
    case objects
    /// Whole objects or the columns, and the metadata too.
    case rows
}

/// What one commit changed in an index, for observations.
struct SecondaryIndexChanges: YapDatabaseCountedChanges {
    /// One change of a row. A row that is changed twice has two.
    struct Row: Sendable {
        /// The columns before; nil when the row wasn't in the index.
        let before: [YapDatabaseColumnValue]?
        /// The columns after; nil when the row is no longer in the index.
        let after: [YapDatabaseColumnValue]?
        /// Whether only the metadata was set or touched.
        let isOfMetadata: Bool
    }

    private(set) var rows: [Row] = []
    /// Whether any row may have changed: all were removed, or there were more changes than a commit names.
    var isOfAll: Bool

    init(isOfAll: Bool = false) { self.isOfAll = isOfAll }

    var count: Int { rows.count }
    var isEmpty: Bool { rows.isEmpty && !isOfAll }

    /// Notes a change. Beyond `max` changes all rows count as changed.
    mutating func note(_ row: Row, max: Int) {
        guard row.before != nil || row.after != nil else { return }
        if rows.count < max { rows.append(row) } else { isOfAll = true }
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
    ///   - reads: What else than the columns is a part of the result. If it wasn't set, a row with the same columns as
    ///     before has changed nothing.
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
    /// Whether a change of a row changes what is read of it besides the columns.
    fileprivate func concern(_ row: SecondaryIndexChanges.Row) -> Bool {
        switch self {
        case .columns: false
        case .objects: !row.isOfMetadata
        case .rows: true
        }
    }
}

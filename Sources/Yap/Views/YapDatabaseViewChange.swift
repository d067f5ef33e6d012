/// The difference between the sections and rows of a view after the previous change and after this one.
///
/// `YapDatabaseViewSections` applies it to arrays. A list on a screen applies `sectionChanges` and `rowChanges` as
/// one batch: deletions by earlier indexes, insertions by later ones.
public struct YapDatabaseViewChange<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    /// A row of the view.
    public typealias Row = (key: String, object: Object)

    /// Number of the commit after the change.
    public let snapshot: UInt64
    /// True if everything has to be read again: at the beginning, after a gap, or when too much changed to name it.
    /// Section and row changes are empty then, and each row is included.
    public let isReset: Bool
    /// Sections after the change.
    public let mappings: YapDatabaseViewMappings<Group>
    /// Sections that were inserted and deleted.
    public let sectionChanges: [YapDatabaseViewSectionChange<Group>]
    /// Rows that were inserted, deleted, moved and updated.
    public let rowChanges: [YapDatabaseViewRowChange]
    private let rows: [YapDatabaseViewPath: Row]

    init(
        snapshot: UInt64, isReset: Bool, mappings: YapDatabaseViewMappings<Group>,
        sectionChanges: [YapDatabaseViewSectionChange<Group>] = [],
        rowChanges: [YapDatabaseViewRowChange] = [], rows: [YapDatabaseViewPath: Row]
    ) {
        self.snapshot = snapshot
        self.isReset = isReset
        self.mappings = mappings
        self.sectionChanges = sectionChanges
        self.rowChanges = rowChanges
        self.rows = rows
    }

    /// Returns a row that was inserted, moved or updated, as it is in this snapshot. After a reset, any row.
    ///
    /// - Parameter path: Path of the row after the change.
    public func row(at path: YapDatabaseViewPath) -> Row? { rows[path] }

    /// True if no section and no row changed.
    var isEmpty: Bool { !isReset && sectionChanges.isEmpty && rowChanges.isEmpty }
}

extension YapDatabaseViewSections where Group: Codable {
    /// Creates a list without sections, for the changes of `connection.changes(of:)`. The first change is a reset
    /// with all of them.
    public init() {
        self.init(YapDatabaseViewMappings.only([])) { _ in preconditionFailure("a row of no section") }
    }

    /// Applies a change.
    ///
    /// - Parameters:
    ///   - change: The next change of the sequence. No change may be skipped.
    ///   - row: Returns the list's value for a row.
    public mutating func apply<Object>(
        _ change: YapDatabaseViewChange<Object, Group>,
        _ row: (YapDatabaseViewChange<Object, Group>.Row) throws -> Row
    ) rethrows {
        func found(_ path: YapDatabaseViewPath) throws -> Row {
            guard let found = change.row(at: path) else { preconditionFailure("no row at \(path)") }
            return try row(found)
        }
        if change.isReset {
            self = try YapDatabaseViewSections(change.mappings, row: found)
        } else {
            try apply(sections: change.sectionChanges, rows: change.rowChanges, row: found)
        }
    }

    /// Applies a change to a list of the objects themselves.
    ///
    /// - Parameter change: The next change of the sequence. No change may be skipped.
    public mutating func apply(_ change: YapDatabaseViewChange<Row, Group>) where Row: Sendable {
        apply(change) { $0.object }
    }
}

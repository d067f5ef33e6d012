/// How the sections and rows of a view differ from those that the change before led to.
///
/// `YapDatabaseViewSections` applies it to arrays. A list on a screen applies `sectionChanges` and `rowChanges` as one
/// batch: deletions by the indexes of before, insertions by those of after.
public struct YapDatabaseViewChange<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    /// A row of the view.
    public typealias Row = (key: String, object: Object)

    /// The commit that the change leads to.
    public let snapshot: UInt64
    /// Whether everything is to be read anew: at the beginning, after a gap, or when too much changed to name it. There
    /// are no section and row changes then, and each row is at hand.
    public let isReset: Bool
    /// The sections after the change.
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

    /// A row that was inserted, moved or updated, as it is in this snapshot; after a reset, any row.
    ///
    /// - Parameter path: Its place after the change.
    public func row(at path: YapDatabaseViewPath) -> Row? { rows[path] }

    /// Whether no section and no row changed.
    var isEmpty: Bool { !isReset && sectionChanges.isEmpty && rowChanges.isEmpty }
}

extension YapDatabaseViewSections where Group: Codable {
    /// Makes a list without sections, for the changes of `connection.changes(of:)`: the first one brings them all.
    public init() {
        self.init(YapDatabaseViewMappings.only([])) { _ in preconditionFailure("a row of no section") }
    }

    /// Goes to the state that a change leads to.
    ///
    /// - Parameters:
    ///   - change: The next change of the sequence that the list follows. No change may be left out.
    ///   - row: Returns what the list has of a row.
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

    /// Goes to the state that a change leads to, in a list of the objects themselves.
    ///
    /// - Parameter change: The next change of the sequence that the list follows.
    public mutating func apply(_ change: YapDatabaseViewChange<Row, Group>) where Row: Sendable {
        apply(change) { $0.object }
    }
}

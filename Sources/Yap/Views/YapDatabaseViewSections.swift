/// The sections of a list with their rows, kept up to date by the changes that mappings report.
///
/// ```swift
/// var list = YapDatabaseViewSections(mappings) { path in note(at: path) }
/// // After each commit, with the mappings' changes:
/// list.apply(sections: changes.sections, rows: changes.rows) { path in note(at: path) }
/// ```
public struct YapDatabaseViewSections<Group: Hashable & Comparable & Sendable, Row> {
    /// One section.
    public struct Section {
        /// The group that the section shows, or the name of the section that shows all groups.
        public let group: Group
        /// The shown rows, in order.
        public var rows: [Row]
    }

    /// The sections, in order.
    public private(set) var sections: [Section]

    /// Creates the list of the mappings' current state.
    ///
    /// - Parameters:
    ///   - mappings: The mappings.
    ///   - row: Returns the row at a path.
    public init(
        _ mappings: YapDatabaseViewMappings<Group>, row: (YapDatabaseViewPath) throws -> Row
    ) rethrows {
        sections = try mappings.sections.enumerated().map { index, section in
            let rows = try (0..<section.rowCount).map {
                try row(YapDatabaseViewPath(section: index, row: $0))
            }
            return Section(group: section.group, rows: rows)
        }
    }

    /// Moves to the mappings' next state.
    ///
    /// Removes deleted and moved rows, deletes and inserts sections, inserts new and moved rows, and replaces updated
    /// rows. The list must be in the state before the changes. If `row` throws, the list is unchanged.
    ///
    /// - Parameters:
    ///   - sectionChanges: The changes of sections.
    ///   - rowChanges: The changes of rows.
    ///   - row: Returns the row at a path after all changes. Called for each inserted, moved or updated row.
    public mutating func apply(
        sections sectionChanges: [YapDatabaseViewSectionChange<Group>],
        rows rowChanges: [YapDatabaseViewRowChange], row: (YapDatabaseViewPath) throws -> Row
    ) rethrows {
        let finals = rowChanges.compactMap { change in change.final.map { (path: $0, kind: change.kind) } }
        let rows = try finals.map { (path: $0.path, row: try row($0.path), isUpdate: $0.kind == .update) }
        let left = rowChanges.filter { $0.kind != .update }.compactMap(\.original)
        for (section, paths) in Dictionary(grouping: left, by: \.section) {
            sections[section].remove(Set(paths.map(\.row)))
        }
        apply(sectionChanges)
        for (section, rows) in Dictionary(grouping: rows, by: \.path.section) {
            sections[section].insert(rows.filter { !$0.isUpdate }.map { ($0.path.row, $0.row) })
            for update in rows where update.isUpdate { sections[section].rows[update.path.row] = update.row }
        }
    }

    private mutating func apply(_ changes: [YapDatabaseViewSectionChange<Group>]) {
        let deleted = changes.compactMap { if case .delete(let section, _) = $0 { section } else { nil } }
        for section in deleted.sorted(by: >) { sections.remove(at: section) }
        let inserted = changes.compactMap {
            if case .insert(let section, let group) = $0 { (section, group) } else { nil }
        }
        for (section, group) in inserted.sorted(by: <) {
            sections.insert(Section(group: group, rows: []), at: section)
        }
    }
}

extension YapDatabaseViewSections.Section {
    /// Removes rows by their indexes, in one pass.
    fileprivate mutating func remove(_ indexes: Set<Int>) {
        rows = rows.indices.filter { !indexes.contains($0) }.map { rows[$0] }
    }

    /// Inserts rows at the indexes that they have afterwards, in one pass.
    fileprivate mutating func insert(_ inserted: [(index: Int, row: Row)]) {
        var result: [Row] = []
        result.reserveCapacity(rows.count + inserted.count)
        var rest = rows[...]
        for (index, row) in inserted.sorted(by: { $0.index < $1.index }) {
            let kept = rest.prefix(index - result.count)
            result += kept
            rest = rest.dropFirst(kept.count)
            result.append(row)
        }
        rows = result + rest
    }
}

extension YapDatabaseViewSections: Sendable where Row: Sendable {}
extension YapDatabaseViewSections.Section: Sendable where Row: Sendable {}
extension YapDatabaseViewSections: Equatable where Row: Equatable {}
extension YapDatabaseViewSections.Section: Equatable where Row: Equatable {}

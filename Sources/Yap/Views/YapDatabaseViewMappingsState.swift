extension YapDatabaseViewMappings {
    /// One section at the snapshot.
    public struct Section: Hashable, Sendable {
        /// The group that the section shows, or the name of the section that shows all groups.
        public let group: Group
        /// Number of shown rows.
        public let rowCount: Int
        /// True if the section shows all groups.
        public let isConsolidated: Bool
    }

    /// The sections at the snapshot, in order.
    public var sections: [Section] { layout.sections }

    /// Number of shown rows in all sections.
    public var totalCount: Int { layout.rowCount }

    /// True if no rows are shown.
    public var isEmpty: Bool { totalCount == 0 }

    /// True if one section shows all groups, because there are few rows.
    public var isConsolidated: Bool { layout.isConsolidated }

    /// Returns the group that a section shows, or nil if the section doesn't exist.
    public func group(ofSection section: Int) -> Group? {
        sections.indices.contains(section) ? sections[section].group : nil
    }

    /// Returns the number of shown rows in a section, or 0 if the section doesn't exist.
    public func rowCount(inSection section: Int) -> Int {
        sections.indices.contains(section) ? sections[section].rowCount : 0
    }

    /// Returns the section that shows a group, or nil if none does.
    public func section(of group: Group) -> Int? { layout.section(of: group) }

    /// Returns the indexes of a group's shown rows, in the stored order of the view.
    public func shownIndexes(in group: Group) -> Range<Int> { layout.indexes(in: group) }

    /// Returns the group of a shown row and the row's stored index in it, or nil if the path isn't in the list.
    public func place(of path: YapDatabaseViewPath) -> (group: Group, index: Int)? {
        layout.place(of: path).map { ($0.group, $0.index) }
    }

    /// Returns the path of a row, or nil if the row isn't shown.
    ///
    /// - Parameters:
    ///   - index: Stored index of the row in its group.
    ///   - group: Group of the row.
    public func path(of index: Int, in group: Group) -> YapDatabaseViewPath? {
        layout.path(of: ViewRowDelta<Group>.Place(group: group, index: index))
    }
}

extension YapDatabaseViewMappings {
    /// Changes of a list. Sections: deletes by descending index, then inserts by ascending index. Rows: deletes by
    /// descending original path, inserts by ascending final path, then moves and updates by ascending final path.
    public typealias Changes = (
        sections: [YapDatabaseViewSectionChange<Group>], rows: [YapDatabaseViewRowChange]
    )

    /// Sets the state of a snapshot.
    ///
    /// - Parameter counts: Number of rows of each group.
    mutating func reset(to counts: [Group: Int]) {
        self.counts = counts
        indexes = [:]
        rebuild()
    }

    /// Moves to the state of another snapshot, and returns the changes.
    ///
    /// - Parameters:
    ///   - deltas: The rows that differ, each once.
    ///   - counts: Number of rows of each group at the other snapshot.
    mutating func apply(_ deltas: [ViewRowDelta<Group>], counts: [Group: Int]) -> Changes {
        let groupChanges = ViewGroupChange.byGroup(deltas)
        let before = layout
        for (group, indexes) in self.indexes {
            let change = groupChanges[group] ?? .none
            let (originalCount, count) = (self.counts[group] ?? 0, counts[group] ?? 0)
            precondition(change.leads(from: originalCount, to: count), "the deltas don't match the counts")
            self.indexes[group] = windows[group].indexes(
                after: indexes, change, originalCount: originalCount, count: count)
        }
        self.counts = counts
        rebuild()
        return changes(from: before, deltas, groupChanges)
    }

    /// Shows another range of each group, and returns the changes.
    ///
    /// - Parameter range: The range, which counts the rows of a reversed group in the shown order.
    public mutating func changeRange(to range: YapDatabaseViewRange) -> Changes {
        let before = layout
        setRange(range)
        rebuild()
        return changes(from: before, [], [:])
    }

    /// Shows another range of one group, and returns the changes: for example, when the user scrolls to the end.
    ///
    /// - Parameters:
    ///   - range: The range, which counts the rows of a reversed group in the shown order.
    ///   - group: The group.
    public mutating func changeRange(to range: YapDatabaseViewRange, in group: Group) -> Changes {
        let before = layout
        setRange(range, in: group)
        rebuild()
        return changes(from: before, [], [:])
    }

    private func changes(
        from before: ViewLayout<Group>, _ deltas: [ViewRowDelta<Group>],
        _ groupChanges: [Group: ViewGroupChange]
    ) -> Changes {
        let difference = ViewDifference(from: before, to: layout, deltas, groupChanges)
        let rows = difference.rowChanges(dependentsAt: dependentOffsets)
        return (before.sectionChanges(to: layout), rows)
    }

    /// Computes the layout from the current counts.
    mutating func rebuild() {
        let groups = shownGroups()
        indexes = groups.reduce(into: [:]) { indexes, group in
            indexes[group] =
                self.indexes[group] ?? windows[group].initialIndexes(count: counts[group] ?? 0)
        }
        let entries = groups.map { group in
            ViewLayout<Group>.Entry(
                group: group, indexes: indexes[group] ?? 0..<0, isReversed: isReversed[group],
                isDynamic: isDynamic[group])
        }
        layout = ViewLayout(entries, consolidation: consolidation)
    }

    private func shownGroups() -> [Group] {
        switch selection {
        case .only(let groups): groups
        case .all(let isShown, let isBefore):
            counts.filter { $0.value > 0 && isShown($0.key) }.map(\.key).sorted { left, right in
                isBefore(left, right) || !isBefore(right, left) && left < right
            }
        }
    }
}

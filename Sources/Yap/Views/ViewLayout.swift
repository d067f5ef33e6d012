/// Positions of the shown rows at one snapshot: the sections, and the part of each group that they show.
struct ViewLayout<Group: Hashable & Comparable & Sendable>: Sendable {
    typealias Section = YapDatabaseViewMappings<Group>.Section
    typealias Place = ViewRowDelta<Group>.Place

    /// A group to show, in the order of sections.
    struct Entry {
        let group: Group
        let indexes: Range<Int>
        let isReversed: Bool
        let isDynamic: Bool
    }

    /// The shown part of one group. A section has one part, a consolidated section several.
    private struct Part {
        let group: Group
        let indexes: Range<Int>
        let isReversed: Bool
        /// Path of its first row.
        let start: YapDatabaseViewPath
    }

    private(set) var sections: [Section] = []
    let rowCount: Int
    /// True if one section shows all groups.
    let isConsolidated: Bool
    private var parts: [Part] = []
    private var partOfGroup: [Group: Int] = [:]

    /// - Parameter consolidation: The count under which all groups are one section, and its name.
    init(_ entries: [Entry], consolidation: (under: Int, as: Group)?) {
        rowCount = entries.reduce(0) { $0 + $1.indexes.count }
        isConsolidated = rowCount < consolidation?.under ?? 0
        let shown = entries.filter { !$0.isDynamic || !$0.indexes.isEmpty }
        if isConsolidated, let consolidation, !shown.isEmpty {
            sections = [Section(group: consolidation.as, rowCount: rowCount, isConsolidated: true)]
            var row = 0
            for entry in shown {
                append(entry, YapDatabaseViewPath(section: 0, row: row))
                row += entry.indexes.count
            }
        } else {
            for entry in shown {
                append(entry, YapDatabaseViewPath(section: sections.count, row: 0))
                sections.append(
                    Section(group: entry.group, rowCount: entry.indexes.count, isConsolidated: false))
            }
        }
    }

    private mutating func append(_ entry: Entry, _ start: YapDatabaseViewPath) {
        partOfGroup[entry.group] = parts.count
        parts.append(
            Part(group: entry.group, indexes: entry.indexes, isReversed: entry.isReversed, start: start))
    }

    /// Groups with shown rows.
    var groups: [Group] { parts.map { $0.group } }

    /// Returns the shown indexes of a group.
    func indexes(in group: Group) -> Range<Int> { partOfGroup[group].map { parts[$0].indexes } ?? 0..<0 }

    /// Returns the section that shows a group.
    func section(of group: Group) -> Int? { partOfGroup[group].map { parts[$0].start.section } }

    /// Returns the path of a row, or nil if the row isn't shown.
    func path(of place: Place) -> YapDatabaseViewPath? {
        guard let part = partOfGroup[place.group].map({ parts[$0] }), part.indexes.contains(place.index)
        else { return nil }
        let row =
            part.isReversed
            ? part.indexes.upperBound - 1 - place.index : place.index - part.indexes.lowerBound
        return YapDatabaseViewPath(section: part.start.section, row: part.start.row + row)
    }

    /// Returns the row at a path, or nil if the path isn't in the list.
    func place(of path: YapDatabaseViewPath) -> Place? {
        guard path.row >= 0, let part = part(of: path) else { return nil }
        let row = path.row - part.start.row
        guard path.section == part.start.section, row < part.indexes.count else { return nil }
        let index = part.isReversed ? part.indexes.upperBound - 1 - row : part.indexes.lowerBound + row
        return Place(group: part.group, index: index)
    }

    /// Returns the last part that begins at or before a path.
    private func part(of path: YapDatabaseViewPath) -> Part? {
        let next = partitioningIndex(below: parts.count) { parts[$0].start <= path }
        return next == 0 ? nil : parts[next - 1]
    }

    /// Returns the sections that only one of two layouts has: deletes by descending index, then inserts by ascending
    /// index.
    func sectionChanges(to final: Self) -> [YapDatabaseViewSectionChange<Group>] {
        let names = Set(sections.map { $0.name })
        let finalNames = Set(final.sections.map { $0.name })
        let deleted = sections.indices.reversed().filter { !finalNames.contains(sections[$0].name) }
        let inserted = final.sections.indices.filter { !names.contains(final.sections[$0].name) }
        return deleted.map { .delete(section: $0, group: sections[$0].group) }
            + inserted.map { .insert(section: $0, group: final.sections[$0].group) }
    }
}

extension YapDatabaseViewMappings.Section {
    /// Identity of a section. The consolidated section may have the name of a group.
    fileprivate struct Name: Hashable {
        let group: Group
        let isConsolidated: Bool
    }

    fileprivate var name: Name { Name(group: group, isConsolidated: isConsolidated) }
}

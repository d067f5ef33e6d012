/// The difference between two layouts: the path of each row before and after.
///
/// The number of steps depends on the number of deltas, the lengths of the windows that moved and the number of
/// groups, and not on the number of rows.
struct ViewDifference<Group: Hashable & Comparable & Sendable> {
    typealias Place = ViewRowDelta<Group>.Place

    /// A row shown before, after or both.
    enum Row: Hashable {
        /// A row with a delta, by the delta's index.
        case changed(Int)
        /// A row without a delta, by its rank among the rows of the group that keep their places.
        case unchanged(Group, rank: Int)
    }

    let before: ViewLayout<Group>
    let after: ViewLayout<Group>
    private let deltas: [ViewRowDelta<Group>]
    private let groupChanges: [Group: ViewGroupChange]
    private let deltaAtOriginal: [Place: Int]
    private let deltaAtFinal: [Place: Int]

    init(
        from before: ViewLayout<Group>, to after: ViewLayout<Group>, _ deltas: [ViewRowDelta<Group>],
        _ groupChanges: [Group: ViewGroupChange]
    ) {
        self.before = before
        self.after = after
        self.deltas = deltas
        self.groupChanges = groupChanges
        deltaAtOriginal = Self.indexes(deltas) { $0.original }
        deltaAtFinal = Self.indexes(deltas) { $0.final }
    }

    private static func indexes(
        _ deltas: [ViewRowDelta<Group>], by place: (ViewRowDelta<Group>) -> Place?
    ) -> [Place: Int] {
        deltas.enumerated().reduce(into: [:]) { indexes, delta in
            if let place = place(delta.element) { indexes[place] = delta.offset }
        }
    }

    /// Returns the changes of rows, in the order of reports.
    ///
    /// - Parameter offsets: Offsets of a changed row's dependents.
    func rowChanges(dependentsAt offsets: [Int]) -> [YapDatabaseViewRowChange] {
        var changes: [Row: YapDatabaseViewRowChange] = [:]
        for row in deltas.indices.map(Row.changed) + movedWithoutDelta() { changes[row] = change(of: row) }
        for row in dependents(of: Array(changes.values), at: offsets) {
            var change = changes[row] ?? change(of: row, isRedrawn: true)
            change?.flags.insert(.dependency)
            changes[row] = change
        }
        return Array(changes.values).inReportOrder()
    }

    /// Returns a row's change, or nil if it looks the same before and after.
    private func change(of row: Row, isRedrawn: Bool = false) -> YapDatabaseViewRowChange? {
        let original = originalPath(of: row)
        let final = finalPath(of: row)
        guard original != nil || final != nil else { return nil }
        let delta: ViewRowDelta<Group>? = if case .changed(let index) = row { deltas[index] } else { nil }
        let staysPut = original == final && delta?.keptPlace ?? true && !replacesSections
        if staysPut && delta == nil && !isRedrawn { return nil }
        let kind: YapDatabaseViewRowChange.Kind =
            original == nil ? .insert : final == nil ? .delete : staysPut ? .update : .move
        return YapDatabaseViewRowChange(
            kind: kind, original: original, final: final, flags: delta?.flags ?? [], rowID: delta?.rowID)
    }

    /// True if the groups were combined into one section, or were split again. Every section is then deleted and
    /// inserted.
    private var replacesSections: Bool { before.isConsolidated != after.isConsolidated }

    /// Returns the rows without a delta that enter or leave a window, and all shown ones if sections are replaced.
    private func movedWithoutDelta() -> [Row] {
        Set(before.groups).union(after.groups).flatMap { group in
            let change = groupChange(group)
            let original = change.original.ranks(in: before.indexes(in: group))
            let final = change.final.ranks(in: after.indexes(in: group))
            let ranks =
                (replacesSections ? [original.clamped(to: final)] : [])
                + original.parts(outside: final) + final.parts(outside: original)
            return ranks.joined().filter { !hasDelta(group, rank: $0) }.map { Row.unchanged(group, rank: $0) }
        }
    }
}

extension ViewDifference {
    /// True if a row that keeps its place has a delta, which represents it.
    private func hasDelta(_ group: Group, rank: Int) -> Bool {
        let index = groupChange(group).original.index(ofRank: rank)
        return deltaAtOriginal[Place(group: group, index: index)] != nil
    }

    private func groupChange(_ group: Group) -> ViewGroupChange { groupChanges[group] ?? .none }

    /// Returns the path before, or nil if the row wasn't shown.
    func originalPath(of row: Row) -> YapDatabaseViewPath? {
        switch row {
        case .changed(let index): deltas[index].original.flatMap(before.path)
        case .unchanged(let group, let rank):
            before.path(of: Place(group: group, index: groupChange(group).original.index(ofRank: rank)))
        }
    }

    /// Returns the path after, or nil if the row isn't shown.
    func finalPath(of row: Row) -> YapDatabaseViewPath? {
        switch row {
        case .changed(let index): deltas[index].final.flatMap(after.path)
        case .unchanged(let group, let rank):
            after.path(of: Place(group: group, index: groupChange(group).final.index(ofRank: rank)))
        }
    }

    /// Returns the row that was at a path before.
    func row(atOriginal path: YapDatabaseViewPath) -> Row? {
        guard let place = before.place(of: path) else { return nil }
        if let delta = deltaAtOriginal[place] { return .changed(delta) }
        return .unchanged(place.group, rank: groupChange(place.group).original.rank(of: place.index))
    }

    /// Returns the row at a path after.
    func row(atFinal path: YapDatabaseViewPath) -> Row? {
        guard let place = after.place(of: path) else { return nil }
        if let delta = deltaAtFinal[place] { return .changed(delta) }
        return .unchanged(place.group, rank: groupChange(place.group).final.rank(of: place.index))
    }
}

extension Range<Int> {
    /// Returns the parts of this range that another one doesn't cover.
    fileprivate func parts(outside other: Self) -> [Self] {
        guard overlaps(other) else { return [self] }
        return [
            lowerBound..<Swift.max(lowerBound, other.lowerBound),
            Swift.min(upperBound, other.upperBound)..<upperBound,
        ]
    }
}

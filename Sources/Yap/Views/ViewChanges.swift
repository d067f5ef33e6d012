/// Changes of a view by commits: for each row its place before and after.
///
/// Places are sort keys and not indexes, so the changes of several commits combine row by row, and a reader of a
/// later snapshot computes the indexes of both ends.
struct ViewChanges<Group: YapDatabaseViewGroup>: YapDatabaseCountedChanges, PlaceChanges {
    struct Place: Hashable, Sendable {
        var group: Group
        var sort: [UInt8]
    }

    struct Row: Sendable {
        var original: Place?
        var final: Place?
        /// True if the row never left its place. Its sort key may differ if the order is the same.
        var keptPlace: Bool
        var flags: YapDatabaseViewRowChange.Flags
    }

    private(set) var rows: [Int64: Row] = [:]
    /// True if all rows may have changed, because the view was emptied at once or too many rows changed.
    private(set) var isEverything = false
    /// Groups that were created and removed.
    var newGroups: [Int64: Group] = [:]
    var removedGroupIDs: Set<Int64> = []
    /// True if the query of a view of search results was replaced.
    var isQueryReplaced = false

    var isEmpty: Bool {
        rows.isEmpty && !isEverything && newGroups.isEmpty && removedGroupIDs.isEmpty && !isQueryReplaced
    }
    var count: Int { rows.count + newGroups.count + removedGroupIDs.count + 1 }

    /// Adds a later change of a row.
    ///
    /// - Parameter rowsMax: Maximum rows. Beyond it the changes stand for all rows.
    mutating func record(_ rowID: Int64, _ change: Row, rowsMax: Int) {
        guard !isEverything else { return }
        guard var earlier = rows[rowID] else {
            rows[rowID] = change
            if rows.count > rowsMax { recordEverything() }
            return
        }
        earlier.final = change.final
        earlier.keptPlace = earlier.keptPlace && change.keptPlace
        earlier.flags.formUnion(change.flags)
        rows[rowID] = earlier
    }

    mutating func recordEverything() {
        isEverything = true
        rows = [:]
    }

    /// Adds the changes of a later commit.
    mutating func add(_ later: ViewChanges) {
        if later.isEverything { return recordEverything() }
        for (rowID, change) in later.rows { record(rowID, change, rowsMax: .max) }
    }

    /// Rowids of the rows that changed or moved. Nil for all.
    var changedRowIDs: [Int64]? { isEverything ? nil : Array(rows.keys) }

    /// Returns true if rows of a group may have changed.
    func touches(_ group: Group) -> Bool {
        isEverything || rows.values.contains { $0.original?.group == group || $0.final?.group == group }
    }

    /// Returns true if a row may have changed or moved.
    func touches(rowID: Int64) -> Bool { isEverything || rows[rowID] != nil }

    /// Returns the changes with the indexes of the rows before and after all of them.
    ///
    /// - Parameter index: Returns the number of entries of a group that are now before a place, which may have no
    ///   row.
    func deltas(_ index: (_ place: Place, _ rowID: Int64) throws -> Int) rethrows -> [ViewRowDelta<Group>] {
        let changed = rows.filter { $0.value.original != nil || $0.value.final != nil }
        let originals = Keys(changed.compactMap { row in row.value.original.map { ($0, row.key) } })
        let finals = Keys(changed.compactMap { row in row.value.final.map { ($0, row.key) } })
        // Rows with only a new sort key, in the same order, are counted above and don't differ.
        return try changed.filter { !$0.value.keptPlace || !$0.value.flags.isEmpty }.map { rowID, change in
            let original = try change.original.map { place in
                // The current entries are the earlier ones without the originals and with the finals.
                let now = try index(place, rowID)
                return ViewRowDelta<Group>.Place(
                    group: place.group,
                    index: now - finals.count(before: place, rowID) + originals.count(before: place, rowID))
            }
            let final = try change.final.map {
                ViewRowDelta<Group>.Place(group: $0.group, index: try index($0, rowID))
            }
            return ViewRowDelta(
                rowID: rowID, original: original, final: final, keptPlace: change.keptPlace,
                flags: change.flags)
        }
    }

    /// Places of changed rows, sorted within each group.
    private struct Keys {
        private var entries: [Group: [ViewEntry]] = [:]

        init(_ places: [(Place, Int64)]) {
            for (place, rowID) in places {
                entries[place.group, default: []]
                    .append(ViewEntry(groupID: 0, sort: place.sort, rowID: rowID))
            }
            for group in entries.keys { entries[group]?.sort() }
        }

        func count(before place: Place, _ rowID: Int64) -> Int {
            guard let entries = entries[place.group] else { return 0 }
            let entry = ViewEntry(groupID: 0, sort: place.sort, rowID: rowID)
            return partitioningIndex(below: entries.count) { entries[$0] < entry }
        }
    }
}

import SQLite

/// Finds a row's place in a group by comparing it with a few existing rows.
extension ViewTable {
    /// Maximum entries of a stretch that is searched in memory. A page with its pending changes has a few more than
    /// `ViewPages.entriesMax`; beyond this the pages are written first.
    private var stretchEntriesMax: Int { 2 * ViewPages.entriesMax }

    /// Returns the entries between which a row belongs. Compares with the ends of the group first, where most rows
    /// are added, then with beginnings of pages, then with the entries of one page: about log2(n) comparisons for n
    /// entries. It reads the beginnings of all pages of the group once a transaction, and the entries of one page.
    ///
    /// - Parameters:
    ///   - rowID: The row. Its own entry is skipped.
    ///   - isBefore: Returns true if an entry is before the row. If the results contradict each other, the returned
    ///     entries are still neighbours.
    /// - Returns: `lower` is nil at the beginning of the group, `upper` at its end.
    func neighbours(
        of rowID: Int64, inGroup groupID: Int64, _ isBefore: (ViewEntry) throws -> Bool
    ) throws -> (lower: ViewEntry?, upper: ViewEntry?) {
        let beginning = ViewEntry(groupID: groupID, sort: [], rowID: .min)
        guard let last = try lastEntry(ofGroup: groupID, without: rowID) else { return (nil, nil) }
        if try isBefore(last) { return (last, nil) }
        let first = try entry(from: beginning, without: rowID)
        guard let first, try isBefore(first) else { return (nil, first) }
        for entriesMax in [stretchEntriesMax, .max] {
            let starts = try pageStarts(ofGroup: groupID)
            let next = try partitioningIndex(below: starts.count) { page in
                try entry(from: starts[page], without: rowID).map(isBefore) ?? false
            }
            let start = next == 0 ? beginning : starts[next - 1]
            let end = next == starts.count ? nil : starts[next]
            if let entries = try entries(from: start, to: end, without: rowID, max: entriesMax) {
                let index = try partitioningIndex(below: entries.count) { try isBefore(entries[$0]) }
                return (
                    index == 0 ? try entry(before: start, without: rowID) : entries[index - 1],
                    index == entries.count
                        ? try end.flatMap { try entry(from: $0, without: rowID) } : entries[index]
                )
            }
            try settle()
        }
        return (last, nil)
    }

    /// Returns the entry before another one, which needn't exist, or nil if it is the first.
    func entry(before entry: ViewEntry, without rowID: Int64? = nil) throws -> ViewEntry? {
        let found = try first(sql.entryBefore, entry)
        return if let found, found.rowID == rowID { try first(sql.entryBefore, found) } else { found }
    }

    /// Returns the entry after another one, or nil if it is the last.
    func entry(after entry: ViewEntry) throws -> ViewEntry? { try first(sql.entryAfter, entry) }

    /// Returns the first entry that isn't before another one, which needn't exist.
    private func entry(from start: ViewEntry, without rowID: Int64) throws -> ViewEntry? {
        let values = Self.values(start) + [.integer(1), .integer(0)]
        let found = try entries(sql.entries, values, start.groupID).first
        return if let found, found.rowID == rowID { try entry(after: found) } else { found }
    }

    private func lastEntry(ofGroup groupID: Int64, without rowID: Int64) throws -> ViewEntry? {
        let found = try entries(sql.last, [.integer(groupID)], groupID).first
        return if let found, found.rowID == rowID { try entry(before: found) } else { found }
    }

    private func first(_ sql: String, _ entry: ViewEntry) throws -> ViewEntry? {
        try entries(sql, Self.values(entry), entry.groupID).first
    }

    /// Returns a stretch of a group, or nil if it has more entries than `max`.
    private func entries(from start: ViewEntry, to end: ViewEntry?, without rowID: Int64, max: Int) throws
        -> [ViewEntry]?
    {
        let values = Self.values(start) + [.integer(-1), .integer(0)]
        return try tables.withStatement(sql.entries, values) { statement in
            var entries: [ViewEntry] = []
            while try statement.step() {
                let entry = ViewEntry(
                    groupID: start.groupID, sort: statement.bytes(at: 0), rowID: statement.int64(at: 1))
                if let end, entry >= end { break }
                if entries.count == max { return nil }
                if entry.rowID != rowID { entries.append(entry) }
            }
            return entries
        }
    }

    private static func values(_ entry: ViewEntry) -> [YapDatabaseColumnValue] {
        [.integer(entry.groupID), .blob(entry.sort), .integer(entry.rowID)]
    }
}

import SQLite

/// Entries of a view whose rows the app places.
extension ViewTable {
    /// Returns a group's entries by their indexes. What is beyond the group is left out.
    func entries(of group: Group, in range: Range<Int>) throws -> [ViewEntry] {
        guard let positions = try positions(group), let start = positions.start(at: max(0, range.lowerBound))
        else { return [] }
        let values: [YapDatabaseColumnValue] = [
            .integer(start.entry.groupID), .blob(start.entry.sort), .integer(start.entry.rowID),
            .integer(Int64(max(0, range.upperBound - max(0, range.lowerBound)))),
            .integer(Int64(start.offset)),
        ]
        return try entries(sql.entries, values, start.entry.groupID)
    }

    /// Returns the last entry of a group, or nil if no row is in it.
    func lastEntry(of group: Group) throws -> ViewEntry? {
        guard let id = try groupID(group) else { return nil }
        return try entries(sql.last, [.integer(id)], id).first
    }

    /// Returns the rowids of entries whose rows don't exist any more.
    func strayRowIDs(collection: String) throws -> [Int64] {
        try tables.withStatement(sql.strays, [.text(collection)]) { statement in
            var rowIDs: [Int64] = []
            while try statement.step() { rowIDs.append(statement.int64(at: 0)) }
            return rowIDs
        }
    }

    private func entries(_ sql: String, _ values: [YapDatabaseColumnValue], _ groupID: Int64) throws
        -> [ViewEntry]
    {
        try tables.withStatement(sql, values) { statement in
            var entries: [ViewEntry] = []
            while try statement.step() {
                entries.append(
                    ViewEntry(
                        groupID: groupID, sort: statement.bytes(at: 0), rowID: statement.int64(at: 1)))
            }
            return entries
        }
    }
}

import SQLite

/// Entries of a manual view.
extension ViewTable {
    /// Returns a group's entries by their indexes. Indexes beyond the group are ignored.
    func entries(of group: Group, in range: Range<Int>) throws -> [ViewEntry] {
        guard let window = try window(of: group, range) else { return [] }
        return try entries(sql.entries, window.values, window.groupID)
    }

    /// Returns the last entry of a group, or nil if no row is in it.
    func lastEntry(of group: Group) throws -> ViewEntry? {
        guard let id = try groupID(group) else { return nil }
        return try entries(sql.last, [.integer(id)], id).first
    }

    /// Returns the rowids of entries of deleted rows.
    func strayRowIDs(collection: String) throws -> [Int64] {
        try rowIDs(sql.strays, [.text(collection)])
    }

    /// Returns the rowids of all entries, in ascending order.
    func rowIDs() throws -> [Int64] {
        try placePending()
        return try rowIDs(sql.rowIDs, [])
    }

    private func rowIDs(_ sql: String, _ values: [YapDatabaseColumnValue]) throws -> [Int64] {
        try tables.withStatement(sql, values) { statement in
            var rowIDs: [Int64] = []
            while try statement.step() { rowIDs.append(statement.int64(at: 0)) }
            return rowIDs
        }
    }

    func entries(_ sql: String, _ values: [YapDatabaseColumnValue], _ groupID: Int64) throws
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

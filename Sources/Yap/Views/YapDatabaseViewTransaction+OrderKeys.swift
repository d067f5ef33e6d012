import System

/// Sort keys that only define an order: see `ViewOrderKey`.
extension YapDatabaseViewTransaction {
    /// Returns the sort key of a row that is placed by comparing it with others: with its neighbours, if it has a
    /// place in the group, then as `ViewTable.neighbours` does.
    ///
    /// - Throws: The errors of `precedes`.
    func orderKey(
        of row: ViewSortRow<Object>, in group: Group,
        _ precedes: (_ first: ViewSortRow<Object>, _ second: ViewSortRow<Object>) throws -> Bool
    ) throws -> [UInt8] {
        let groupID = try table.groupID(group)
        var known: [Int64: Bool] = [:]
        func isBefore(_ entry: ViewEntry) throws -> Bool {
            if let known = known[entry.rowID] { return known }
            // A row that can't be read counts as the next one does. Any other result would separate the rows around
            // it.
            var next: ViewEntry? = entry
            var isBefore: Bool?
            while let tried = next, isBefore == nil {
                if tried.rowID != row.rowID { isBefore = try self.isBefore(tried, row, precedes) }
                next = try isBefore == nil ? table.entry(after: tried) : nil
            }
            known[entry.rowID] = isBefore ?? false
            return isBefore ?? false
        }
        guard let groupID else { return try key(between: nil, nil, in: group) }
        if let entry = try table.storedEntry(row.rowID), entry.groupID == groupID,
            try table.entry(before: entry).map(isBefore) ?? true,
            try table.entry(after: entry).map({ try !isBefore($0) }) ?? true
        {
            return entry.sort
        }
        let (lower, upper) = try table.neighbours(of: row.rowID, inGroup: groupID, isBefore)
        return try key(between: lower, upper, in: group)
    }

    /// Returns a stored row to sort, or nil if it doesn't exist. In a view that missed writes, its rowid may have
    /// been reused by a row of another collection.
    private func sortRow(_ rowID: Int64) throws -> ViewSortRow<Object>? {
        guard let identity = try transaction.identity(ofRowID: rowID),
            identity.collection.hasSameBytes(as: view.collection)
        else { return nil }
        return ViewSortRow(identity, in: transaction)
    }

    /// Returns nil for an entry of an unreadable row. Other rows can be written nevertheless.
    private func isBefore(
        _ entry: ViewEntry, _ row: ViewSortRow<Object>,
        _ precedes: (ViewSortRow<Object>, ViewSortRow<Object>) throws -> Bool
    ) throws -> Bool? {
        guard let other = try sortRow(entry.rowID) else { return nil }
        do {
            return try precedes(other, row)
        } catch let error as YapDatabaseError where error.code == .decoding {
            return nil
        }
    }

    private func key(between lower: ViewEntry?, _ upper: ViewEntry?, in group: Group) throws -> [UInt8] {
        if let key = ViewOrderKey.between(lower?.sort, upper?.sort) { return key }
        let index = try upper.map(table.index) ?? table.count(of: group)
        try makeRoom(at: index, in: group)
        let (below, above) = (
            try lower.flatMap { try table.storedEntry($0.rowID) },
            try upper.flatMap { try table.storedEntry($0.rowID) }
        )
        if let key = ViewOrderKey.between(below?.sort, above?.sort) { return key }
        throw YapDatabaseError(.corrupt, "the keys of the view \"\(view.name)\" aren't in order")
    }

    /// Gives the rows around an index of a group new sort keys, with room between them.
    func makeRoom(at index: Int, in group: Group) throws {
        let count = try count(in: group)
        var radius = 32
        while true {
            let range = max(0, index - radius)..<min(count, index + radius)
            let (isFirst, isLast) = (range.lowerBound == 0, range.upperBound == count)
            var entries = try table.entries(of: group, in: range.lowerBound - 1..<range.upperBound + 1)[...]
            let lower = isFirst ? nil : entries.popFirst()?.sort
            let upper = isLast ? nil : entries.popLast()?.sort
            if let keys = ViewOrderKey.spread(entries.count, lower, upper) {
                for (entry, key) in zip(entries, keys) { try setSort(entry.rowID, key) }
                return
            }
            if isFirst, isLast { return }
            radius *= 8
        }
    }
}

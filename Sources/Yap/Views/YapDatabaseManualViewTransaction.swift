/// A manual view in a write transaction.
///
/// A placement that throws fails the whole transaction.
public final class YapDatabaseManualViewTransaction<Object: Sendable, Group: YapDatabaseViewGroup>:
    YapDatabaseViewTransaction<Object, Group>
{
    /// Adds a row at the end of a group.
    ///
    /// - Returns: False if the row doesn't exist, or is already in the view.
    @discardableResult
    public func append(_ key: String, to group: Group) throws -> Bool {
        try insert(key, at: .max, in: group)
    }

    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - index: Index of the row afterwards. An index beyond the group adds the row at its end.
    ///   - group: The group.
    /// - Returns: False if the row doesn't exist, or is already in the view.
    @discardableResult
    public func insert(_ key: String, at index: Int, in group: Group) throws -> Bool {
        guard let row = try identity(key), try table.entry(row.rowID) == nil else { return false }
        try changing(row) { try put(row, at: index, in: group) }
        return true
    }

    /// Moves a row of the view, within its group or to another.
    ///
    /// - Parameters:
    ///   - key: Key of the row.
    ///   - index: Index of the row afterwards. An index beyond the group moves the row to its end.
    ///   - group: The group.
    /// - Returns: False if the row isn't in the view.
    @discardableResult
    public func move(_ key: String, to index: Int, in group: Group) throws -> Bool {
        guard let row = try identity(key), try table.entry(row.rowID) != nil else { return false }
        try changing(row) {
            try table.place(row.rowID, at: nil, isNew: false, [])
            try put(row, at: index, in: group)
        }
        return true
    }

    /// Removes a row from the view. The row itself stays in its collection.
    ///
    /// - Returns: False if the row isn't in the view.
    @discardableResult
    public func remove(_ key: String) throws -> Bool {
        guard let row = try identity(key), try table.entry(row.rowID) != nil else { return false }
        try changing(row) { try table.place(row.rowID, at: nil, isNew: false, []) }
        return true
    }

    /// Removes the row at an index of a group from the view.
    ///
    /// - Returns: False if the group has fewer rows.
    @discardableResult
    public func remove(at index: Int, in group: Group) throws -> Bool {
        guard index >= 0, index < Int.max, let key = try keys(in: group, index..<index + 1).first else {
            return false
        }
        return try remove(key)
    }

    /// Removes all rows of a group from the view.
    public func removeAll(in group: Group) throws {
        for key in try keys(in: group) { try remove(key) }
    }

    private func identity(_ key: String) throws -> YapDatabaseRowIdentity? {
        try transaction.rowID(forKey: key, inCollection: view.collection).map {
            YapDatabaseRowIdentity(rowID: $0, collection: view.collection, key: key)
        }
    }

    /// Runs `body`, which places a row, and updates filtered views.
    private func changing(_ row: YapDatabaseRowIdentity, _ body: () throws -> Void) throws {
        do {
            try body()
            try placeInFollowers(row)
        } catch {
            // The views may differ now.
            if transaction.failure == nil { transaction.failure = error }
            throw error
        }
    }

    private func put(_ row: YapDatabaseRowIdentity, at index: Int, in group: Group) throws {
        let sort = try sort(at: index, in: group)
        try table.place(row.rowID, at: (group, sort), isNew: true, [])
    }

    /// Returns a key for a new row. If there is no room, the rows around it get new keys first.
    private func sort(at index: Int, in group: Group) throws -> [UInt8] {
        // Without counting, so that appending writes no pages.
        if index == .max, let key = ViewOrderKey.between(try table.lastEntry(of: group)?.sort, nil) {
            return key
        }
        let index = min(max(0, index), try count(in: group))
        if let key = try keyBetweenNeighbours(index, group) { return key }
        try makeRoom(at: index, in: group)
        if let key = try keyBetweenNeighbours(index, group) { return key }
        throw YapDatabaseError(.corrupt, "the keys of the view \"\(view.name)\" aren't in order")
    }

    private func keyBetweenNeighbours(_ index: Int, _ group: Group) throws -> [UInt8]? {
        let lower = index == 0 ? nil : try table.entries(of: group, in: index - 1..<index).first
        return ViewOrderKey.between(
            lower?.sort, try table.entries(of: group, in: index..<index + 1).first?.sort)
    }
}

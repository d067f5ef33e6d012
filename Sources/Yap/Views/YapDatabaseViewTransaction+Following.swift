/// How a view follows the rows of its collection.
extension YapDatabaseViewTransaction {
    /// Creates the tables anew, unless they are of this version and have all rows.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try transaction.checkType(Object.self, of: view.collection, for: view.name)
        let isCurrent =
            previous?.versionTag == view.versionTag
            && previous?.classVersion == YapDatabaseView<Object, Group>.classVersion
        return try view.placement.register(
            self, isCurrent: isCurrent, missed: previous?.missedChanges ?? .unknown)
    }

    /// Adds rows that were there before. Nobody follows a view that is filled. One that catches up is followed, and
    /// each of these rows was removed from it first.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        let flags: YapDatabaseViewRowChange.Flags? = hasHeardOfRemovals ? [.object, .metadata] : nil
        for row in rows { try follow(row.identity, row.object, isNew: false, flags) }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _): try follow(row, object, isNew: true, [.object, .metadata])
        case .update(let row, let object, _): try follow(row, object, isNew: false, [.object, .metadata])
        case .replaceObject(let row, let object): try follow(row, object, isNew: false, .object)
        case .replaceMetadata(let row, _), .touchMetadata(let row): try table.touch(row.rowID, .metadata)
        case .touchObject(let row): try table.touch(row.rowID, .object)
        case .touchRow(let row): try table.touch(row.rowID, [.object, .metadata])
        case .remove(let rows):
            hasHeardOfRemovals = true
            removePending(rows.map(\.rowID))
            for row in rows { try table.place(row.rowID, at: nil, isNew: false, [.object, .metadata]) }
        case .removeAll:
            removePending(nil)
            try table.removeAll()
        }
    }

    private func follow(
        _ row: YapDatabaseRowIdentity, _ object: any Sendable, isNew: Bool,
        _ flags: YapDatabaseViewRowChange.Flags?
    ) throws {
        // The parent hands it over as soon as it knows the place.
        if parent?.isPending(row.rowID) == true { return }
        try place(row, object, isNew: isNew, flags)
    }

    /// Places pending rows, and writes the pages of the groups.
    public func flushPendingChangesToExtensionTables() throws {
        try placePending()
        try table.settle()
    }

    /// The places of the changed rows, before and after.
    public func changesForConnections() -> (any Sendable)? { table.changesSoFar() }
}

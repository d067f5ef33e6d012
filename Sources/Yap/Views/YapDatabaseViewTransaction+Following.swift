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
        for row in rows { try place(row.identity, row.object, isNew: false, flags) }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _): try place(row, object, isNew: true, [.object, .metadata])
        case .update(let row, let object, _): try place(row, object, isNew: false, [.object, .metadata])
        case .replaceObject(let row, let object): try place(row, object, isNew: false, .object)
        case .replaceMetadata(let row, _), .touchMetadata(let row): try table.touch(row.rowID, .metadata)
        case .touchObject(let row): try table.touch(row.rowID, .object)
        case .touchRow(let row): try table.touch(row.rowID, [.object, .metadata])
        case .remove(let rows):
            hasHeardOfRemovals = true
            for row in rows { try table.place(row.rowID, at: nil, isNew: false, [.object, .metadata]) }
        case .removeAll: try table.removeAll()
        }
    }

    /// Writes the pages of the groups.
    public func flushPendingChangesToExtensionTables() throws { try table.settle() }

    /// The places of the changed rows, before and after.
    public func changesForConnections() -> (any Sendable)? { table.changesSoFar() }

    func place(
        _ row: YapDatabaseRowIdentity, _ object: any Sendable, isNew: Bool,
        _ flags: YapDatabaseViewRowChange.Flags?
    ) throws {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the view \"\(view.name)\" is of \(Object.self), the object a \(type(of: object))",
                collection: row.collection, key: row.key)
        }
        switch try view.placement.place(row, object, in: self) {
        case .at(let group, let sort):
            try table.place(row.rowID, at: (group, sort), isNew: isNew, flags)
        case .outside: try table.place(row.rowID, at: nil, isNew: isNew, flags)
        case .unchanged:
            if !isNew, let flags { try table.touch(row.rowID, flags) }
        }
    }
}

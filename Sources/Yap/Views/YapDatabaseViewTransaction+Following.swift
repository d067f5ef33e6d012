/// Updates a view for changes of its collection.
extension YapDatabaseViewTransaction {
    /// Creates the tables, unless they have this version and all rows.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try checkTypes(metadata: view.placement.metadataTypes)
        let isCurrent =
            previous?.versionTag == view.versionTag
            && previous?.classVersion == YapDatabaseView<Object, Group>.classVersion
        return try view.placement.register(
            self, isCurrent: isCurrent, missed: previous?.missedChanges ?? .unknown)
    }

    /// Adds existing rows. Nothing observes a view that is being filled. A view that catches up is observed; each of
    /// these rows was removed from it first.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        let flags: YapDatabaseViewRowChange.Flags? = hasHeardOfRemovals ? [.object, .metadata] : nil
        for row in rows {
            try follow(row.identity, row.object, .known(row.metadata), isNew: false, flags)
        }
    }

    /// Updates the view for a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, let metadata):
            try follow(row, object, .known(metadata), isNew: true, [.object, .metadata])
        case .update(let row, let object, let metadata):
            try follow(row, object, .known(metadata), isNew: false, [.object, .metadata])
        case .replaceObject(let row, let object):
            try follow(row, object, .stored(transaction), isNew: false, .object)
        case .replaceMetadata(let row, let metadata) where followsMetadata:
            let object = try transaction.object(Object.self, forKey: row.key, inCollection: row.collection)
            if let object { try follow(row, object, .known(metadata), isNew: false, .metadata) }
        case .replaceMetadata(let row, _), .touchMetadata(let row): try touch(row, .metadata)
        case .touchObject(let row): try touch(row, .object)
        case .touchRow(let row): try touch(row, [.object, .metadata])
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
        _ row: YapDatabaseRowIdentity, _ object: any Sendable, _ metadata: ViewRow<Object>.Metadata,
        isNew: Bool, _ flags: YapDatabaseViewRowChange.Flags?
    ) throws {
        // The parent hands it over as soon as it knows the place.
        if parent?.isPending(row.rowID) == true { return }
        let object = try extensionObject(
            object, as: Object.self, for: view.name, of: row.collection, key: row.key)
        try place(ViewRow(identity: row, object: object, metadata: metadata), isNew: isNew, flags)
    }

    /// True if places depend on metadata, here or in a parent.
    private var followsMetadata: Bool {
        !view.placement.metadataTypes.isEmpty || parent?.followsMetadata == true
    }

    /// Checks that the collection is registered with the view's type of objects and with each of these types of
    /// metadata.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`.
    func checkTypes(metadata types: [any Sendable.Type]) throws {
        try transaction.checkTypes(Object.self, metadata: types, of: view.collection, for: view.name)
    }

    /// Places pending rows, and writes the pages of the groups.
    public func flushPendingChangesToExtensionTables() throws {
        try placePending()
        try table.settle()
    }

    /// Returns the places of the changed rows, before and after.
    public func changesForConnections() -> (any Sendable)? { table.changesSoFar() }
}

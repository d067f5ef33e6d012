import SQLite

/// Updates an index for changes of its collection.
extension YapDatabaseIndexTransaction {
    /// Creates the table, unless it has this version, or lacks only known changes.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        let description = table.description
        try description.check(in: transaction)
        if previous?.isCurrent(description.versionTag, classVersion: table.classVersion) == true {
            return .isUnchanged
        }
        try tables.execute(table.create)
        return .isEmpty
    }

    /// Adds existing rows. Observations have read the index only if it catches up; each of them counts.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        changes.isOfAll = true
        for row in rows {
            if let entry = try entry(of: row.object, row.metadata) { try insert(row.identity.rowID, entry) }
        }
    }

    /// Updates the index for a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, let metadata):
            if let entry = try entry(of: object, metadata) { try add(row.rowID, entry) }
        case .update(let row, let object, let metadata):
            try set(row.rowID, try entry(of: object, metadata))
        case .replaceObject(let row, let object):
            let metadata = try table.description.readsMetadata ? transaction.storedMetadata(of: row) : nil
            try set(row.rowID, try entry(of: object, metadata))
        case .remove(let rows): for row in rows { note(before: try delete(row.rowID), after: nil) }
        case .removeAll:
            try tables.withStatement(table.sql.deleteAll) { try $0.run() }
            changes.isOfAll = true
        case .touchObject(let row), .touchRow(let row):
            let values = try values(ofRow: row.rowID)
            note(before: values, after: values)
        case .replaceMetadata(let row, let metadata):
            if table.description.readsMetadata { try setMetadata(row, metadata) }
        case .touchMetadata(let row):
            guard table.description.readsMetadata else { return }
            let values = try values(ofRow: row.rowID)
            note(before: values, after: values, isOfMetadata: true)
        }
    }

    /// Returns the changed rows' columns, for observations.
    public func changesForConnections() -> (any Sendable)? {
        if changes.isEmpty { return nil }
        return changes.isOfAll ? SecondaryIndexChanges(isOfAll: true) : changes
    }

    /// Returns a closure that restores the number of changes, which are only appended.
    public func makeRestorePoint() throws -> () -> Void {
        let (count, isOfAll) = (changes.count, changes.isOfAll)
        return { self.changes.restore(count: count, isOfAll: isOfAll) }
    }

    private func add(_ rowID: Int64, _ entry: IndexEntry) throws {
        try insert(rowID, entry)
        note(before: nil, after: entry.values)
    }

    private func set(_ rowID: Int64, _ entry: IndexEntry?, isOfMetadata: Bool = false) throws {
        guard let entry else { return note(before: try delete(rowID), after: nil) }
        guard let before = try values(ofRow: rowID) else { return try add(rowID, entry) }
        if before != entry.values { try replace(rowID, before, by: entry) }
        note(before: before, after: entry.values, isOfMetadata: isOfMetadata)
    }

    /// Updates a row after a change of its metadata only. Reads the object only if it also decides whether the row is
    /// in the index.
    private func setMetadata(_ row: YapDatabaseRowIdentity, _ metadata: (any Sendable)?) throws {
        let description = table.description
        let before = try description.isIncludedByMetadata ? nil : values(ofRow: row.rowID)
        let entry: IndexEntry?
        if let before {
            entry = self.entry(description.values(before, withMetadata: metadata))
        } else if table.mayEnterByMetadata {
            let object = try transaction.object(forKey: row.key, inCollection: row.collection)
            entry = try object.flatMap { try self.entry(of: $0, metadata) }
        } else {
            return
        }
        try set(row.rowID, entry, isOfMetadata: true)
    }

    /// Returns the columns' values of a row, or nil if it isn't in the index.
    func values(ofRow rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        try tables.withStatement(table.sql.find, [.integer(rowID)]) { try $0.step() ? $0.columnValues : nil }
    }

    private func note(
        before: [YapDatabaseColumnValue]?, after: [YapDatabaseColumnValue]?, isOfMetadata: Bool = false
    ) {
        changes.note(
            .init(before: before, after: after, isOfMetadata: isOfMetadata),
            max: transaction.store.changedKeysPerCommitMax)
    }

    /// Returns the index's entry for a row, or nil if the row isn't in the index.
    private func entry(of object: any Sendable, _ metadata: (any Sendable)?) throws -> IndexEntry? {
        try table.description.values(of: object, metadata).flatMap { entry($0) }
    }

    private func entry(_ values: [YapDatabaseColumnValue]) -> IndexEntry? {
        table.dimensions(values).map { IndexEntry(bounds: $0, values: values) }
    }
}

/// Entry of an index for one object.
struct IndexEntry {
    /// Bounds of the dimensions. Empty for an index without dimensions.
    let bounds: [YapDatabaseColumnValue]
    /// The columns' values.
    let values: [YapDatabaseColumnValue]
}

import SQLite

/// How an index follows the rows of its collection.
extension YapDatabaseRTreeIndexTransaction {
    /// Makes the table anew, unless it is as this version wants it, or lacks only changes that are known.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try index.check()
        try transaction.checkType(Object.self, of: index.collection, for: index.name)
        if let previous, previous.versionTag == index.versionTag, previous.missedChanges != .unknown,
            previous.classVersion == YapDatabaseRTreeIndex<Object>.classVersion
        {
            return .isUnchanged
        }
        try tables.execute(sql.create)
        return .isEmpty
    }

    /// Adds rows that were there before. Observations have read the index only if it catches up; each of them counts.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        changes.isOfAll = true
        for row in rows {
            if let entry = try entry(of: row.object) { try insert(row.identity.rowID, entry) }
        }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _), .update(let row, let object, _),
            .replaceObject(let row, let object):
            try set(row.rowID, try entry(of: object))
        case .remove(let rows): for row in rows { try set(row.rowID, nil) }
        case .removeAll:
            try tables.withStatement(sql.exact.deleteAll) { try $0.run() }
            changes.isOfAll = true
        case .touchObject(let row), .touchRow(let row):
            let values = try values(ofRow: row.rowID)
            note(before: values, after: values)
        case .replaceMetadata, .touchMetadata: break
        }
    }

    /// The changed rows' values, for observations.
    public func changesForConnections() -> (any Sendable)? {
        if changes.isEmpty { return nil }
        return changes.isOfAll ? SecondaryIndexChanges(isOfAll: true) : changes
    }

    /// Keeps the number of changes; they are only added to.
    public func makeRestorePoint() throws -> () -> Void {
        let (count, isOfAll) = (changes.count, changes.isOfAll)
        return { self.changes.restore(count: count, isOfAll: isOfAll) }
    }

    private func set(_ rowID: Int64, _ entry: RTreeEntry?) throws {
        let before = try values(ofRow: rowID)
        if let entry {
            if before != entry.values { try insert(rowID, entry) }
        } else if before != nil {
            try tables.withStatement(sql.delete, [.integer(rowID)]) { try $0.run() }
        }
        note(before: before, after: entry?.values)
    }

    private func insert(_ rowID: Int64, _ entry: RTreeEntry) throws {
        try tables.withStatement(sql.insert, [.integer(rowID)] + entry.bounds + entry.values) { try $0.run() }
    }

    private func values(ofRow rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        try tables.withStatement(sql.exact.find, [.integer(rowID)]) { try $0.step() ? $0.columnValues : nil }
    }

    private func note(before: [YapDatabaseColumnValue]?, after: [YapDatabaseColumnValue]?) {
        changes.note(before: before, after: after, max: transaction.store.changedKeysPerCommitMax)
    }

    /// What the index has of an object; nil if it doesn't belong into it.
    private func entry(of object: any Sendable) throws -> RTreeEntry? {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the index \"\(index.name)\" is of \(Object.self), the object is a \(type(of: object))",
                collection: index.collection)
        }
        return index.entry(of: object)
    }
}

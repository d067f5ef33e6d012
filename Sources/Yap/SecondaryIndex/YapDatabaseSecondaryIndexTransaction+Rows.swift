import SQLite

/// How an index follows the rows of its collection.
extension YapDatabaseSecondaryIndexTransaction {
    /// Makes the table anew, unless it is as this version wants it, or lacks only changes that are known.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try index.check()
        try transaction.checkType(Object.self, of: index.collection, for: index.name)
        if let previous, previous.versionTag == index.versionTag, previous.missedChanges != .unknown,
            previous.classVersion == YapDatabaseSecondaryIndex<Object>.classVersion
        {
            return .isUnchanged
        }
        try tables.execute(index.create(connection.table))
        return .isEmpty
    }

    /// Adds rows that were there before. Observations have read the index only if it catches up; each of them counts.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        changes.isOfAll = true
        for row in rows {
            if let values = try values(of: row.object) { try insert(row.identity.rowID, values) }
        }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _):
            if let values = try values(of: object) { try add(row.rowID, values) }
        case .update(let row, let object, _), .replaceObject(let row, let object):
            try update(row.rowID, object)
        case .remove(let rows): for row in rows { try remove(row.rowID) }
        case .removeAll:
            try tables.withStatement(sql.deleteAll) { try $0.run() }
            changes.isOfAll = true
        case .touchObject(let row), .touchRow(let row):
            let columns = try columns(ofRow: row.rowID)
            note(before: columns, after: columns)
        case .replaceMetadata, .touchMetadata: break
        }
    }

    /// The changed rows' columns, for observations.
    public func changesForConnections() -> (any Sendable)? {
        if changes.isEmpty { return nil }
        return changes.isOfAll ? SecondaryIndexChanges(isOfAll: true) : changes
    }

    /// Keeps the number of changes; they are only added to.
    public func makeRestorePoint() throws -> () -> Void {
        let (count, isOfAll) = (changes.count, changes.isOfAll)
        return { self.changes.restore(count: count, isOfAll: isOfAll) }
    }

    private func add(_ rowID: Int64, _ values: [YapDatabaseColumnValue]) throws {
        try insert(rowID, values)
        note(before: nil, after: values)
    }

    private func insert(_ rowID: Int64, _ values: [YapDatabaseColumnValue]) throws {
        try tables.withStatement(sql.insert, [.integer(rowID)] + values) { try $0.run() }
    }

    private func update(_ rowID: Int64, _ object: any Sendable) throws {
        guard let values = try values(of: object) else { return try remove(rowID) }
        guard let before = try columns(ofRow: rowID) else { return try add(rowID, values) }
        for place in values.indices where before[place] != values[place] {
            try tables.withStatement(sql.set[place], [.integer(rowID), values[place]]) { try $0.run() }
        }
        note(before: before, after: values)
    }

    private func remove(_ rowID: Int64) throws {
        let before = try tables.withStatement(sql.delete, [.integer(rowID)]) { statement in
            let columns = try statement.step() ? statement.columnValues : nil
            while try statement.step() {}
            return columns
        }
        note(before: before, after: nil)
    }

    private func columns(ofRow rowID: Int64) throws -> [YapDatabaseColumnValue]? {
        try tables.withStatement(sql.find, [.integer(rowID)]) { try $0.step() ? $0.columnValues : nil }
    }

    private func note(before: [YapDatabaseColumnValue]?, after: [YapDatabaseColumnValue]?) {
        changes.note(before: before, after: after, max: transaction.store.changedKeysPerCommitMax)
    }

    /// The columns' values; nil for an object that doesn't belong into the index.
    private func values(of object: any Sendable) throws -> [YapDatabaseColumnValue]? {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the index \"\(index.name)\" is of \(Object.self), the object is a \(type(of: object))",
                collection: index.collection)
        }
        return index.isIncluded(object) ? index.columns.map { $0.value(object) } : nil
    }
}

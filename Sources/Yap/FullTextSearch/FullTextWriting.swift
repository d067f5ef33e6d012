import SQLite

extension YapDatabaseFullTextSearchTransaction {
    /// Creates the table, unless it has this version and lacks at most known changes.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try search.check(in: transaction)
        let classVersion = YapDatabaseFullTextSearch<Object>.classVersion
        if previous?.isCurrent(search.versionTag, classVersion: classVersion) == true {
            return .isUnchanged
        }
        try tables.execute(search.create(connection.table))
        return .isEmpty
    }

    /// Adds existing rows.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        for row in rows {
            guard let texts = try search.texts(of: row.object, row.metadata) else { continue }
            try write(row.identity.rowID, texts)
        }
    }

    /// Updates the search for a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, let metadata):
            if let texts = try search.texts(of: object, metadata) { try write(row.rowID, texts) }
        case .update(let row, let object, let metadata):
            _ = try update(row.rowID, try search.texts(of: object, metadata))
        case .replaceObject(let row, let object):
            let metadata = try search.readsMetadata ? transaction.storedMetadata(of: row) : nil
            _ = try update(row.rowID, try search.texts(of: object, metadata))
        case .replaceMetadata(let row, let metadata):
            if search.readsMetadata { try setMetadata(row, metadata) }
        case .remove(let rows): for row in rows { try remove(row.rowID) }
        case .removeAll:
            try tables.withStatement(sql.deleteAll) { try $0.run() }
            hasChanged = true
        case .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// Returns a value if a text has changed, for observations.
    public func changesForConnections() -> (any Sendable)? { hasChanged ? FullTextChanges() : nil }

    /// Returns a closure that restores whether a text has changed.
    public func makeRestorePoint() throws -> () -> Void {
        let hasChanged = hasChanged
        return { self.hasChanged = hasChanged }
    }

    /// Updates a row after a change of its metadata only, also in the views of this search.
    private func setMetadata(_ row: YapDatabaseRowIdentity, _ metadata: (any Sendable)?) throws {
        guard let object = try transaction.object(forKey: row.key, inCollection: row.collection),
            try update(row.rowID, try search.texts(of: object, metadata))
        else { return }
        try placeInResults(row)
    }

    /// Returns true if the texts have changed, or if that is unknown.
    private func update(_ rowID: Int64, _ texts: [YapDatabaseColumnValue]?) throws -> Bool {
        guard let texts else {
            try remove(rowID)
            return true
        }
        let isUnchanged = try tables.withStatement(sql.find, [.integer(rowID)]) { statement in
            guard try statement.step() else { return false }
            return texts.indices.allSatisfy { statement.columnValue(at: Int32($0)) == texts[$0] }
        }
        if !isUnchanged { try write(rowID, texts) }
        return !isUnchanged
    }

    private func write(_ rowID: Int64, _ texts: [YapDatabaseColumnValue]) throws {
        try tables.withStatement(sql.write, [.integer(rowID)] + texts) { try $0.run() }
        hasChanged = true
    }

    private func remove(_ rowID: Int64) throws {
        try tables.withStatement(sql.delete, [.integer(rowID)]) { try $0.run() }
        hasChanged = true
    }
}

/// A text of a search has changed. Which one doesn't matter, because the score of each match depends on all texts.
struct FullTextChanges: Sendable {}

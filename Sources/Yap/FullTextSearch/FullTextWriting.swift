import SQLite

extension YapDatabaseFullTextSearchTransaction {
    /// Creates the table again, unless it is of this version and lacks at most changes that are known.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try search.check()
        try transaction.checkType(Object.self, of: search.collection, for: search.name)
        let classVersion = YapDatabaseFullTextSearch<Object>.classVersion
        if previous?.isCurrent(search.versionTag, classVersion: classVersion) == true {
            return .isUnchanged
        }
        try tables.execute(search.create(connection.table))
        return .isEmpty
    }

    /// Adds rows that existed before.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        for row in rows {
            guard let texts = try texts(of: row.object) else { continue }
            try write(row.identity.rowID, texts)
        }
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _):
            if let texts = try texts(of: object) { try write(row.rowID, texts) }
        case .update(let row, let object, _), .replaceObject(let row, let object):
            try update(row.rowID, object)
        case .remove(let rows): for row in rows { try remove(row.rowID) }
        case .removeAll:
            try tables.withStatement(sql.deleteAll) { try $0.run() }
            hasChanged = true
        case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// That a text has changed, for observations.
    public func changesForConnections() -> (any Sendable)? { hasChanged ? FullTextChanges() : nil }

    /// Keeps whether a text has changed.
    public func makeRestorePoint() throws -> () -> Void {
        let hasChanged = hasChanged
        return { self.hasChanged = hasChanged }
    }

    private func update(_ rowID: Int64, _ object: any Sendable) throws {
        guard let texts = try texts(of: object) else { return try remove(rowID) }
        let isUnchanged = try tables.withStatement(sql.find, [.integer(rowID)]) { statement in
            guard try statement.step() else { return false }
            return texts.indices.allSatisfy { statement.columnValue(at: Int32($0)) == texts[$0] }
        }
        if !isUnchanged { try write(rowID, texts) }
    }

    private func write(_ rowID: Int64, _ texts: [YapDatabaseColumnValue]) throws {
        try tables.withStatement(sql.write, [.integer(rowID)] + texts) { try $0.run() }
        hasChanged = true
    }

    private func remove(_ rowID: Int64) throws {
        try tables.withStatement(sql.delete, [.integer(rowID)]) { try $0.run() }
        hasChanged = true
    }

    /// The columns' texts; nil for an object that isn't included or has no text.
    private func texts(of object: any Sendable) throws -> [YapDatabaseColumnValue]? {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the search \"\(search.name)\" is of \(Object.self), the object is a \(type(of: object))",
                collection: search.collection)
        }
        guard search.isIncluded(object) else { return nil }
        let texts: [YapDatabaseColumnValue] = search.columns.map { column in
            guard let text = column.text(object), !text.isEmpty else { return .null }
            // FTS5 reads a text up to the first NUL in some places, and beyond it in others.
            return .text(TextQueryWords.withoutNUL(text))
        }
        return texts.allSatisfy { $0 == .null } ? nil : texts
    }
}

/// Some text of a search has changed. Which one doesn't matter: the score of each match depends on all texts.
struct FullTextChanges: Sendable {}

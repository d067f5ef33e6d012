/// How an index follows the rows of its collection.
extension YapDatabaseVectorIndexTransaction {
    /// Creates the tables again, unless they are of this version and lack at most changes that are known.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try index.check()
        try transaction.checkTypes(Object.self, of: index.collection, for: index.name)
        let classVersion = YapDatabaseVectorIndex<Object>.classVersion
        if previous?.isCurrent(index.versionTag, classVersion: classVersion) == true { return .isUnchanged }
        try table.create()
        return .isEmpty
    }

    /// Adds rows that existed before.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        var added: [(rowID: Int64, vector: [Float])] = []
        let passesOver = try passesOverMistakesOfFilledRows()
        for row in rows {
            guard let vector = try vector(of: row.object, row.identity.key, passesOver) else { continue }
            // A row of the tables, if what ended on the way is filled again.
            if let place = try table.place(ofRow: row.identity.rowID) {
                try table.replace(vector, ofRow: row.identity.rowID, at: place)
            } else {
                added.append((row.identity.rowID, vector))
            }
        }
        try table.append(added)
        hasChanged = true
    }

    /// Follows a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _), .update(let row, let object, _),
            .replaceObject(let row, let object):
            let writing = transaction as? YapDatabaseReadWriteTransaction
            try set(row.rowID, vector(of: object, row.key, writing?.passesOverMistakes ?? false))
        case .remove(let rows): for row in rows { try set(row.rowID, nil) }
        case .removeAll:
            try table.removeAll()
            hasChanged = true
        case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// That a vector has changed, for observations.
    public func changesForConnections() -> (any Sendable)? { hasChanged ? VectorIndexChanges() : nil }

    /// Keeps whether a vector has changed.
    public func makeRestorePoint() throws -> () -> Void {
        let hasChanged = hasChanged
        return { self.hasChanged = hasChanged }
    }

    private func set(_ rowID: Int64, _ vector: [Float]?) throws {
        switch (try table.place(ofRow: rowID), vector) {
        case (nil, nil): return
        case (nil, let vector?): try table.append([(rowID, vector)])
        case (let place?, nil): try table.remove(rowID: rowID, at: place)
        case (let place?, let vector?):
            if try table.has(vector, ofRow: rowID, at: place) { return }
            try table.replace(vector, ofRow: rowID, at: place)
        }
        hasChanged = true
    }

    /// Whether an object with a mistaken vector is left out, of the rows that are filled in.
    ///
    /// So are objects that the index missed, and those of a database into which a sync brings what others write: one
    /// of them must not stop all. Else the app is told of its mistake when it registers the index.
    private func passesOverMistakesOfFilledRows() throws -> Bool {
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else { return false }
        return try writing.passesOverMistakes || writing.areRowsFetched()
    }

    /// Returns the vector of an object; nil if it isn't in the index.
    ///
    /// - Parameter passesOverMistakes: Whether an object with a mistaken vector isn't in the index. Else it throws.
    private func vector(
        of object: any Sendable, _ key: String, _ passesOverMistakes: Bool
    ) throws -> [Float]? {
        let object = try extensionObject(
            object, as: Object.self, for: index.name, of: index.collection, key: key)
        do {
            return try index.vector(of: object, key)
        } catch let error as YapDatabaseError where error.code == .invalidVector && passesOverMistakes {
            return nil
        }
    }
}

/// Some vector of an index has changed. Which one doesn't matter: each may be among the nearest.
struct VectorIndexChanges: Sendable {}

/// Updates an index for changes of its collection.
extension YapDatabaseVectorIndexTransaction {
    /// Creates the tables, unless they have this version and lack at most known changes.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try index.check()
        try transaction.checkTypes(Object.self, of: index.collection, for: index.name)
        let classVersion = YapDatabaseVectorIndex<Object>.classVersion
        if previous?.isCurrent(index.versionTag, classVersion: classVersion) == true { return .isUnchanged }
        try table.create()
        return .isEmpty
    }

    /// Adds existing rows.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        var added: [(rowID: Int64, vector: [Float])] = []
        let passesOver = try passesOverMistakesOfFilledRows()
        for row in rows {
            guard let vector = try vector(of: row.object, row.identity.key, passesOver) else { continue }
            // The row is in the tables already if filling that was interrupted is repeated.
            if let place = try table.place(ofRow: row.identity.rowID) {
                try table.replace(vector, ofRow: row.identity.rowID, at: place)
            } else {
                added.append((row.identity.rowID, vector))
            }
        }
        try table.append(added)
        hasChanged = true
    }

    /// Updates the index for a change of the collection's rows.
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

    /// Returns a value if a vector has changed, for observations.
    public func changesForConnections() -> (any Sendable)? { hasChanged ? VectorIndexChanges() : nil }

    /// Returns a closure that restores whether a vector has changed.
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

    /// Returns true if an object with an invalid vector is left out of the rows that are filled in.
    ///
    /// This applies to objects that the index missed, and to a database with fetched rows: one invalid object must
    /// not block all others. Otherwise the app gets the error when it registers the index.
    private func passesOverMistakesOfFilledRows() throws -> Bool {
        guard let writing = transaction as? YapDatabaseReadWriteTransaction else { return false }
        return try writing.passesOverMistakes || writing.areRowsFetched()
    }

    /// Returns the vector of an object, or nil if it isn't in the index.
    ///
    /// - Parameter passesOverMistakes: Whether an object with an invalid vector is left out. Otherwise it throws.
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

/// A vector of an index has changed. Which one doesn't matter, because each may be among the nearest.
struct VectorIndexChanges: Sendable {}

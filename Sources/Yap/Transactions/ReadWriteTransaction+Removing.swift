import SQLite

/// Removing rows. No registration is needed.
extension YapDatabaseReadWriteTransaction {
    /// Removes a row. Does nothing if it doesn't exist.
    public func removeObject(forKey key: String, inCollection collection: String) throws {
        try removeObjects(forKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Removes the rows with these keys. Ignores keys without a row.
    public func removeObjects(forKeys keys: some Sequence<String>, inCollection collection: String) throws {
        try check()
        var batch: [YapDatabaseRowIdentity] = []
        var seen: Set<ExactString> = []
        for key in keys where seen.insert(ExactString(key)).inserted {
            guard let identity = try identity(YapCollectionKey(collection: collection, key: key)) else {
                continue
            }
            batch.append(identity)
            if batch.count == YapDatabaseRowChange.removedRowsMax {
                try remove(batch, collection)
                batch = []
                seen = []
            }
        }
        try remove(batch, collection)
    }

    /// Removes all rows of a collection.
    public func removeAllObjects(inCollection collection: String) throws {
        try check()
        if store.isHeard(collection) { return try removeAllTellingExtensions(collection) }
        try toldOf { try store.missedChangeLog.noteClearing(of: collection) }
        try rows.deleteAll(inCollection: collection)
        guard store.sqlite.changesCount > 0 else { return }
        mutations.mutated(collection)
        store.collection(collection)?.cache.removeAll()
        recordedCount += 1
        changes.recordClearing(of: collection)
    }

    /// Removes all rows of all collections. Extensions are notified once, and not for each row.
    public func removeAllObjectsInAllCollections() throws {
        try check()
        try perform(.removeAll) {
            try toldOf { try store.missedChangeLog.noteClearingOfAll() }
            try rows.deleteAll()
            mutations.mutatedAll()
            store.dropRowCaches()
            recordedCount += 1
            changes.recordClearingOfAll()
        }
    }

    /// Removes in batches of a bounded size. Each batch is looked up again, because an extension may have
    /// changed rows in between.
    ///
    /// The clearing is recorded first, so that the commit names the rows that hooks insert in the meantime.
    private func removeAllTellingExtensions(_ collection: String) throws {
        if hasHooks(collection) {
            // All at once, so that rows that hooks insert in the meantime remain.
            let all = try rows.identities(inCollection: collection, after: nil, max: .max)
            if !all.isEmpty { changes.recordClearing(of: collection) }
            return try remove(all, collection)
        }
        var last: String?
        while true {
            let batch = try rows.identities(
                inCollection: collection, after: last, max: YapDatabaseRowChange.removedRowsMax)
            guard let end = batch.last else { break }
            if last == nil { changes.recordClearing(of: collection) }
            try remove(batch, collection)
            last = end.key
        }
    }

    private func remove(_ batch: [YapDatabaseRowIdentity], _ collection: String) throws {
        guard !batch.isEmpty else { return }
        guard hasHooks(collection) else { return try removeTogether(batch, collection) }
        // One by one, because the hooks of one row may remove another row of the batch.
        for row in batch where try rows.rowID(row.key, collection) == row.rowID {
            try removeTogether([row], collection)
        }
    }

    private func removeTogether(_ batch: [YapDatabaseRowIdentity], _ collection: String) throws {
        try perform(.remove(batch)) {
            for row in batch {
                try rows.delete(row.rowID)
                try record(
                    RowChangeRecord(flags: .removed, rowID: row.rowID),
                    YapCollectionKey(collection: collection, key: row.key))
            }
            mutations.mutated(collection)
        }
    }
}

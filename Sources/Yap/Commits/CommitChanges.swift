/// What happened to one collection in one commit.
struct CollectionChanges: Sendable {
    /// All rows that were there before were removed, in one go. `rows` has what was changed since.
    var isCleared = false
    /// There were more changes than a commit names.
    var isOverflown = false
    /// One of these was the removal of a row.
    var hasUnnamedRemovals = false
    var rows: [ExactString: RowChangeRecord] = [:]

    /// Adds a change, and returns whether its key is new. A new key that isn't allowed is counted as overflow.
    mutating func record(_ change: RowChangeRecord, key: String, allowsNew: Bool) -> Bool {
        let key = ExactString(key)
        // The clearing already says that a row which isn't named since was removed.
        if isCleared, change.flags == .removed, rows[key] == nil { return false }
        guard allowsNew else {
            if rows[key]?.merge(change) == nil {
                isOverflown = true
                if change.flags.contains(.removed) { hasUnnamedRemovals = true }
            }
            return false
        }
        // A key is mostly changed once in a commit: then this is the only search for it.
        guard var earlier = rows.updateValue(change, forKey: key) else { return true }
        earlier.merge(change)
        rows[key] = earlier
        return false
    }
}

/// What one commit changed: enough to bring another connection's caches from the commit before to this one.
struct CommitChanges: Sendable {
    var collections: [ExactString: CollectionChanges] = [:]
    /// All collections were cleared before what `collections` says.
    var isAllCleared = false
    private(set) var keyCount = 0

    var isEmpty: Bool { collections.isEmpty && !isAllCleared }

    mutating func record(_ change: RowChangeRecord, key: String, collection: String, keysMax: Int) {
        // One access in place: taking the struct out and putting it back would copy the dictionary inside.
        let isNew = collections[ExactString(collection), default: CollectionChanges()]
            .record(change, key: key, allowsNew: keyCount < keysMax)
        if isNew { keyCount += 1 }
    }

    /// Adds what happened after this, in the same commit.
    mutating func append(_ later: CommitChanges, keysMax: Int) {
        if isEmpty { return self = later }
        if later.isAllCleared { recordClearingOfAll() }
        for (collection, changes) in later.collections {
            if changes.isCleared { recordClearing(of: collection.string) }
            for (key, change) in changes.rows {
                record(change, key: key.string, collection: collection.string, keysMax: keysMax)
            }
            if changes.isOverflown {
                collections[collection, default: CollectionChanges()].isOverflown = true
            }
            if changes.hasUnnamedRemovals {
                collections[collection, default: CollectionChanges()].hasUnnamedRemovals = true
            }
        }
    }

    mutating func recordClearing(of collection: String) {
        let collection = ExactString(collection)
        keyCount -= collections[collection]?.rows.count ?? 0
        collections[collection] = CollectionChanges(isCleared: true)
    }

    mutating func recordClearingOfAll() {
        collections = [:]
        keyCount = 0
        isAllCleared = true
    }
}

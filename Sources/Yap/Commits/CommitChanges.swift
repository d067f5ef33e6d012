/// Changes of one collection in one commit.
struct CollectionChanges: Sendable {
    /// True if all earlier rows were removed at once. `rows` has the changes since.
    var isCleared = false
    /// True if there were more changes than a commit can name.
    var isOverflown = false
    /// True if an unnamed change removed a row.
    var hasUnnamedRemovals = false
    var rows: [ExactString: RowChangeRecord] = [:]

    /// Adds a change, and returns true if its key is new. A new key that isn't allowed counts as overflow.
    mutating func record(_ change: RowChangeRecord, key: String, allowsNew: Bool) -> Bool {
        let key = ExactString(key)
        // After the clearing, a row without a later change is known to be removed.
        if isCleared, change.flags == .removed, rows[key] == nil { return false }
        guard allowsNew else {
            if rows[key]?.merge(change) == nil {
                isOverflown = true
                if change.flags.contains(.removed) { hasUnnamedRemovals = true }
            }
            return false
        }
        // A key is usually changed once in a commit. Then this is its only look-up.
        guard var earlier = rows.updateValue(change, forKey: key) else { return true }
        earlier.merge(change)
        rows[key] = earlier
        return false
    }
}

/// Changes of one commit: enough to update another connection's caches from the previous commit to this one.
struct CommitChanges: Sendable {
    var collections: [ExactString: CollectionChanges] = [:]
    /// True if all collections were cleared before the changes in `collections`.
    var isAllCleared = false
    private(set) var keyCount = 0

    var isEmpty: Bool { collections.isEmpty && !isAllCleared }

    mutating func record(_ change: RowChangeRecord, key: String, collection: String, keysMax: Int) {
        // One access in place: removing and inserting the struct would copy the dictionary inside.
        let isNew = collections[ExactString(collection), default: CollectionChanges()]
            .record(change, key: key, allowsNew: keyCount < keysMax)
        if isNew { keyCount += 1 }
    }

    /// Adds later changes of the same commit.
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

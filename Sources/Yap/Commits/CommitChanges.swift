/// What happened to one collection in one commit.
struct CollectionChanges: Sendable {
    /// All rows that were there before were removed, in one go.
    var isCleared = false
    /// There were more changes than a commit names.
    var isOverflown = false
    var rows: [String: RowChangeRecord] = [:]
}

/// What one commit changed: enough to bring another connection's caches from the commit before to this one.
struct CommitChanges: Sendable {
    var collections: [String: CollectionChanges] = [:]
    /// All collections were cleared before what `collections` says.
    var isAllCleared = false
    private(set) var keyCount = 0

    var isEmpty: Bool { collections.isEmpty && !isAllCleared }

    mutating func record(_ change: RowChangeRecord, key: String, collection: String, keysMax: Int) {
        // One access in place: taking the struct out and putting it back would copy the dictionary inside.
        if collections[collection, default: CollectionChanges()].rows[key]?.merge(change) != nil { return }
        guard keyCount < keysMax else {
            collections[collection]?.isOverflown = true
            return
        }
        keyCount += 1
        collections[collection]?.rows[key] = change
    }

    mutating func recordClearing(of collection: String) {
        keyCount -= collections[collection]?.rows.count ?? 0
        collections[collection] = CollectionChanges(isCleared: true)
    }

    mutating func recordClearingOfAll() {
        collections = [:]
        keyCount = 0
        isAllCleared = true
    }
}

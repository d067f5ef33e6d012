/// The queries of a commit for several commits, such as those that came while a screen was hidden.
///
/// ```swift
/// if commits.hasChange(forAnyKeys: shownKeys, inCollection: "todos") { reload() }
/// ```
///
/// Each query for a change is true if it is for one of the commits.
extension Sequence<YapDatabaseCommit> {
    /// Whether `changedKeys` doesn't name all that may have changed in the collection.
    public func isIncomplete(inCollection collection: String) -> Bool {
        contains { $0.isIncomplete(inCollection: collection) }
    }

    // MARK: Any change

    /// Whether anything in the collection was inserted, set, touched or removed, or may have been.
    public func hasChange(inCollection collection: String) -> Bool {
        contains { $0.hasChange(inCollection: collection) }
    }

    /// Whether the row was inserted, set, touched or removed, or may have been.
    public func hasChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasChange(forKey: key, inCollection: collection) }
    }

    /// Whether one of these rows was inserted, set, touched or removed, or may have been. False without keys.
    public func hasChange(forAnyKeys keys: some Sequence<String>, inCollection collection: String) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Changes of objects

    /// Whether an object in the collection was inserted, set, touched or removed, or may have been.
    public func hasObjectChange(inCollection collection: String) -> Bool {
        contains { $0.hasObjectChange(inCollection: collection) }
    }

    /// Whether the object of the row was inserted, set, touched or removed, or may have been.
    public func hasObjectChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasObjectChange(forKey: key, inCollection: collection) }
    }

    /// Whether the object of one of these rows was inserted, set, touched or removed, or may have been. False without
    /// keys.
    public func hasObjectChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasObjectChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Changes of metadata

    /// Whether metadata in the collection was set, cleared, touched or removed, or may have been.
    public func hasMetadataChange(inCollection collection: String) -> Bool {
        contains { $0.hasMetadataChange(inCollection: collection) }
    }

    /// Whether the metadata of the row was set, cleared, touched or removed, or may have been.
    public func hasMetadataChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasMetadataChange(forKey: key, inCollection: collection) }
    }

    /// Whether the metadata of one of these rows was set, cleared, touched or removed, or may have been. False without
    /// keys.
    public func hasMetadataChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasMetadataChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Clearing

    /// Whether one of the commits removed all rows of the collection in one go.
    public func didClear(collection: String) -> Bool {
        contains { $0.didClear(collection: collection) }
    }

    /// Whether one of the commits removed all rows of all collections in one go.
    public var didClearAllCollections: Bool { contains(where: \.didClearAllCollections) }

    // MARK: Names

    /// The collections with changes, each once, sorted.
    public var changedCollections: [String] {
        reduce(into: Set<ExactString>()) { names, commit in
            names.formUnion(commit.changes.collections.keys)
        }.map(\.string).sorted()
    }

    /// The keys of the rows that were inserted, set, touched or removed one by one, each once, sorted. An inserted row
    /// that a later commit removed is among them.
    public func changedKeys(inCollection collection: String) -> [String] {
        reduce(into: Set<ExactString>()) { keys, commit in
            guard let changes = commit.changes.collections[ExactString(collection)] else { return }
            keys.formUnion(changes.rows.keys)
        }.map(\.string).sorted()
    }

    /// The names of these rows in all collections, each once, in the order of collections and keys' bytes.
    public var changedCollectionKeys: [YapCollectionKey] {
        reduce(into: Set<YapCollectionKey>()) { names, commit in
            for (collection, changes) in commit.changes.collections {
                for key in changes.rows.keys {
                    names.insert(YapCollectionKey(collection: collection.string, key: key.string))
                }
            }
        }.sorted()
    }
}

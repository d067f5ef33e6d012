/// Queries for changes over several commits, such as those made while a screen was hidden.
///
/// ```swift
/// if commits.hasChange(forAnyKeys: shownKeys, inCollection: "todos") { reload() }
/// ```
///
/// Each query returns true if it is true for one of the commits.
extension Sequence<YapDatabaseCommit> {
    /// Returns true if `changedKeys` may lack changes of the collection.
    public func isIncomplete(inCollection collection: String) -> Bool {
        contains { $0.isIncomplete(inCollection: collection) }
    }

    // MARK: Any change

    /// Returns true if a row of the collection was, or may have been, inserted, set, touched or removed.
    public func hasChange(inCollection collection: String) -> Bool {
        contains { $0.hasChange(inCollection: collection) }
    }

    /// Returns true if the row was, or may have been, inserted, set, touched or removed.
    public func hasChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasChange(forKey: key, inCollection: collection) }
    }

    /// Returns true if one of these rows was, or may have been, inserted, set, touched or removed. False without
    /// keys.
    public func hasChange(forAnyKeys keys: some Sequence<String>, inCollection collection: String) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Changes of objects

    /// Returns true if an object of the collection was, or may have been, inserted, set, touched or removed.
    public func hasObjectChange(inCollection collection: String) -> Bool {
        contains { $0.hasObjectChange(inCollection: collection) }
    }

    /// Returns true if the object of the row was, or may have been, inserted, set, touched or removed.
    public func hasObjectChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasObjectChange(forKey: key, inCollection: collection) }
    }

    /// Returns true if the object of one of these rows was, or may have been, inserted, set, touched or removed.
    /// False without keys.
    public func hasObjectChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasObjectChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Changes of metadata

    /// Returns true if metadata of the collection was, or may have been, set, cleared, touched or removed.
    public func hasMetadataChange(inCollection collection: String) -> Bool {
        contains { $0.hasMetadataChange(inCollection: collection) }
    }

    /// Returns true if the metadata of the row was, or may have been, set, cleared, touched or removed.
    public func hasMetadataChange(forKey key: String, inCollection collection: String) -> Bool {
        contains { $0.hasMetadataChange(forKey: key, inCollection: collection) }
    }

    /// Returns true if the metadata of one of these rows was, or may have been, set, cleared, touched or removed.
    /// False without keys.
    public func hasMetadataChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        let keys = Array(keys)
        return contains { $0.hasMetadataChange(forAnyKeys: keys, inCollection: collection) }
    }

    // MARK: Clearing

    /// Returns true if one of the commits removed all rows of the collection at once.
    public func didClear(collection: String) -> Bool {
        contains { $0.didClear(collection: collection) }
    }

    /// True if one of the commits removed all rows of all collections at once.
    public var didClearAllCollections: Bool { contains(where: \.didClearAllCollections) }

    // MARK: Names

    /// Collections with changes, each once, sorted.
    public var changedCollections: [String] {
        reduce(into: Set<ExactString>()) { names, commit in
            names.formUnion(commit.changes.collections.keys)
        }.map(\.string).sorted()
    }

    /// Returns the keys of the rows that were inserted, set, touched or removed one by one, each once, sorted.
    /// Includes inserted rows that a later commit removed.
    public func changedKeys(inCollection collection: String) -> [String] {
        reduce(into: Set<ExactString>()) { keys, commit in
            guard let changes = commit.changes.collections[ExactString(collection)] else { return }
            keys.formUnion(changes.rows.keys)
        }.map(\.string).sorted()
    }

    /// Returns these rows of all collections, each once, ordered by the bytes of collection and key.
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

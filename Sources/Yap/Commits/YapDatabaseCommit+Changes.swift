/// Queries for what changed. To insert, set, touch or remove a row is a change of its object and of its metadata:
/// `setObject(_:forKey:inCollection:)` also clears the metadata. `replaceObject` and `touchObject` change the object
/// alone, `replaceMetadata` and `touchMetadata` the metadata alone.
///
/// Where changes may be unknown (`isIncomplete(inCollection:)`), each query for a change returns true.
extension YapDatabaseCommit {
    /// Whether `changedKeys` and its like don't name all that may have changed in the collection: commits
    /// were missed, another process wrote, or there were more changes than a commit names.
    public func isIncomplete(inCollection collection: String) -> Bool {
        isExternal || missedCommits > 0 || changes.collections[ExactString(collection)]?.isOverflown == true
    }

    // MARK: Any change

    /// Whether anything in the collection was inserted, set, touched or removed, or may have been.
    public func hasChange(inCollection collection: String) -> Bool {
        hasChange(of: .any, inCollection: collection)
    }

    /// Whether the row was inserted, set, touched or removed, or may have been.
    public func hasChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .any, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Whether one of these rows was inserted, set, touched or removed, or may have been. False without keys.
    public func hasChange(forAnyKeys keys: some Sequence<String>, inCollection collection: String) -> Bool {
        hasChange(of: .any, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Changes of objects

    /// Whether an object in the collection was inserted, set, touched or removed, or may have been.
    public func hasObjectChange(inCollection collection: String) -> Bool {
        hasChange(of: .anyOfObject, inCollection: collection)
    }

    /// Whether the object of the row was inserted, set, touched or removed, or may have been.
    public func hasObjectChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .anyOfObject, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Whether the object of one of these rows was inserted, set, touched or removed, or may have been. False without
    /// keys.
    public func hasObjectChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        hasChange(of: .anyOfObject, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Changes of metadata

    /// Whether metadata in the collection was set, cleared, touched or removed, or may have been.
    public func hasMetadataChange(inCollection collection: String) -> Bool {
        hasChange(of: .anyOfMetadata, inCollection: collection)
    }

    /// Whether the metadata of the row was set, cleared, touched or removed, or may have been.
    public func hasMetadataChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .anyOfMetadata, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Whether the metadata of one of these rows was set, cleared, touched or removed, or may have been. False without
    /// keys.
    public func hasMetadataChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        hasChange(of: .anyOfMetadata, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Clearing

    /// Whether all rows of the collection were removed in one go.
    public func didClear(collection: String) -> Bool {
        changes.isAllCleared || changes.collections[ExactString(collection)]?.isCleared == true
    }

    /// Whether all rows of all collections were removed in one go.
    public var didClearAllCollections: Bool { changes.isAllCleared }

    // MARK: Names

    /// The collections with changes, sorted. After `didClearAllCollections` only those with changes since.
    public var changedCollections: [String] { changes.collections.keys.map(\.string).sorted() }

    /// The names of the rows that were inserted, set, touched or removed one by one, in all collections, in the order
    /// of collections and keys' bytes.
    public var changedCollectionKeys: [YapCollectionKey] { [self].changedCollectionKeys }

    /// The keys of the rows that were inserted, set, touched or removed one by one, sorted.
    public func changedKeys(inCollection collection: String) -> [String] {
        keys(collection) { _ in true }
    }

    /// The keys of the rows that were not there before, sorted.
    public func insertedKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.inserted) }
    }

    /// The keys of the rows that were there before and of which object or metadata was set, sorted.
    public func updatedKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && !$0.isDisjoint(with: [.object, .metadata]) }
    }

    /// The keys of the rows that were there before and of which the object was set, sorted.
    public func updatedObjectKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && $0.contains(.object) }
    }

    /// The keys of the rows that were there before and of which the metadata was set or cleared, sorted. `setObject`
    /// without metadata clears it.
    public func updatedMetadataKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && $0.contains(.metadata) }
    }

    /// The keys of the rows that were touched, sorted.
    public func touchedKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.isDisjoint(with: [.touchedObject, .touchedMetadata]) }
    }

    /// The keys of the rows of which the object was touched, sorted.
    public func touchedObjectKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.touchedObject) }
    }

    /// The keys of the rows of which the metadata was touched, sorted.
    public func touchedMetadataKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.touchedMetadata) }
    }

    /// The keys of the rows that were removed one by one, sorted.
    public func removedKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.removed) }
    }

    // MARK: Inside

    private func hasChange(of flags: RowChangeRecord.Flags, inCollection collection: String) -> Bool {
        guard let rows = knownRows(collection) else { return true }
        return rows.values.contains { !$0.flags.isDisjoint(with: flags) }
    }

    private func hasChange(
        of flags: RowChangeRecord.Flags, forAnyKeys keys: some Sequence<String>,
        inCollection collection: String
    ) -> Bool {
        let rows = knownRows(collection)
        return keys.contains { key in
            guard let rows else { return true }
            return rows[ExactString(key)].map { !$0.flags.isDisjoint(with: flags) } ?? false
        }
    }

    /// The changes of a collection's rows by key; nil if each row may have changed.
    private func knownRows(_ collection: String) -> [ExactString: RowChangeRecord]? {
        if isExternal || missedCommits > 0 || changes.isAllCleared { return nil }
        guard let found = changes.collections[ExactString(collection)] else { return [:] }
        return found.isCleared || found.isOverflown ? nil : found.rows
    }

    private func keys(_ collection: String, where isWanted: (RowChangeRecord.Flags) -> Bool) -> [String] {
        (changes.collections[ExactString(collection)]?.rows ?? [:])
            .filter { isWanted($0.value.flags) }.keys.map(\.string).sorted()
    }
}

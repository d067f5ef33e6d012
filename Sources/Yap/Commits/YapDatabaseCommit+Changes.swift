/// Queries for changes. Inserting, setting, touching and removing a row change both its object and its metadata:
/// `setObject(_:forKey:inCollection:)` also clears the metadata. `replaceObject` and `touchObject` change the object
/// only, `replaceMetadata` and `touchMetadata` the metadata only.
///
/// If changes may be unknown (`isIncomplete(inCollection:)`), each query returns true.
///
/// ```swift
/// if commit.hasChange(forKey: todo.id, inCollection: "todos") { reload() }
/// ```
extension YapDatabaseCommit {
    /// Returns true if `changedKeys` and related lists may lack changes of the collection, because commits were
    /// missed, another process wrote, or there were more changes than a commit names.
    public func isIncomplete(inCollection collection: String) -> Bool {
        isExternal || missedCommits > 0 || changes.collections[ExactString(collection)]?.isOverflown == true
    }

    // MARK: Any change

    /// Returns true if a row of the collection was, or may have been, inserted, set, touched or removed.
    public func hasChange(inCollection collection: String) -> Bool {
        hasChange(of: .any, inCollection: collection)
    }

    /// Returns true if the row was, or may have been, inserted, set, touched or removed.
    public func hasChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .any, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Returns true if one of these rows was, or may have been, inserted, set, touched or removed. False without
    /// keys.
    public func hasChange(forAnyKeys keys: some Sequence<String>, inCollection collection: String) -> Bool {
        hasChange(of: .any, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Changes of objects

    /// Returns true if an object of the collection was, or may have been, inserted, set, touched or removed.
    public func hasObjectChange(inCollection collection: String) -> Bool {
        hasChange(of: .anyOfObject, inCollection: collection)
    }

    /// Returns true if the object of the row was, or may have been, inserted, set, touched or removed.
    public func hasObjectChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .anyOfObject, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Returns true if the object of one of these rows was, or may have been, inserted, set, touched or removed.
    /// False without keys.
    public func hasObjectChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        hasChange(of: .anyOfObject, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Changes of metadata

    /// Returns true if metadata of the collection was, or may have been, set, cleared, touched or removed.
    public func hasMetadataChange(inCollection collection: String) -> Bool {
        hasChange(of: .anyOfMetadata, inCollection: collection)
    }

    /// Returns true if the metadata of the row was, or may have been, set, cleared, touched or removed.
    public func hasMetadataChange(forKey key: String, inCollection collection: String) -> Bool {
        hasChange(of: .anyOfMetadata, forAnyKeys: CollectionOfOne(key), inCollection: collection)
    }

    /// Returns true if the metadata of one of these rows was, or may have been, set, cleared, touched or removed.
    /// False without keys.
    public func hasMetadataChange(
        forAnyKeys keys: some Sequence<String>, inCollection collection: String
    ) -> Bool {
        hasChange(of: .anyOfMetadata, forAnyKeys: keys, inCollection: collection)
    }

    // MARK: Clearing

    /// Returns true if all rows of the collection were removed at once.
    public func didClear(collection: String) -> Bool {
        changes.isAllCleared || changes.collections[ExactString(collection)]?.isCleared == true
    }

    /// True if all rows of all collections were removed at once.
    public var didClearAllCollections: Bool { changes.isAllCleared }

    // MARK: Names

    /// Collections with changes, sorted. After `didClearAllCollections`, only those with changes since.
    public var changedCollections: [String] { changes.collections.keys.map(\.string).sorted() }

    /// Rows of all collections that were inserted, set, touched or removed one by one, ordered by the bytes of
    /// collection and key.
    public var changedCollectionKeys: [YapCollectionKey] { [self].changedCollectionKeys }

    /// Returns the keys of the rows that were inserted, set, touched or removed one by one, sorted.
    public func changedKeys(inCollection collection: String) -> [String] {
        keys(collection) { _ in true }
    }

    /// Returns the keys of the rows that didn't exist before, sorted.
    public func insertedKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.inserted) }
    }

    /// Returns the keys of the existing rows with a new object or metadata, sorted.
    public func updatedKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && !$0.isDisjoint(with: [.object, .metadata]) }
    }

    /// Returns the keys of the existing rows with a new object, sorted.
    public func updatedObjectKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && $0.contains(.object) }
    }

    /// Returns the keys of the existing rows with new or cleared metadata, sorted. `setObject` without metadata
    /// clears it.
    public func updatedMetadataKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.contains(.inserted) && $0.contains(.metadata) }
    }

    /// Returns the keys of the touched rows, sorted.
    public func touchedKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.isDisjoint(with: [.touchedObject, .touchedMetadata]) }
    }

    /// Returns the keys of the rows with a touched object, sorted.
    public func touchedObjectKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.touchedObject) }
    }

    /// Returns the keys of the rows with touched metadata, sorted.
    public func touchedMetadataKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.touchedMetadata) }
    }

    /// Returns the keys of the rows that were removed one by one, sorted.
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

    /// Returns the changes of a collection's rows by key, or nil if each row may have changed.
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

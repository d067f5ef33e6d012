/// What one commit changed, as a value.
public struct YapDatabaseCommit: Sendable {
    /// The number of the commit: one more than that of the commit before.
    public var snapshot: UInt64 { mark.number }
    /// Whether another process made the commit (and perhaps others before it), so that what it changed is not
    /// known.
    public let isExternal: Bool
    /// How many commits the receiver has not got between the one before and this one. When it isn't 0, every
    /// question for a change is answered with yes, so that code which knows nothing of gaps stays right.
    public internal(set) var missedCommits: UInt64 = 0

    let mark: SnapshotMark
    private let changes: CommitChanges
    private let extensionChanges: [ExtensionChanges]
    /// The registered extensions, when the commit registered or unregistered one.
    private let registry: [RegisteredExtension]?

    init(_ record: CommitRecord) {
        mark = record.mark
        isExternal = false
        changes = record.changes
        extensionChanges = record.extensionChanges
        registry = record.registry
    }

    init(external mark: SnapshotMark) {
        self.mark = mark
        isExternal = true
        changes = CommitChanges()
        extensionChanges = []
        registry = nil
    }

    /// Counts a commit before this one that the receiver doesn't get.
    mutating func add(missed commit: YapDatabaseCommit) {
        missedCommits += commit.missedCommits + 1
    }

    /// Whether `changedKeys` and its like don't name all that may have changed in the collection: commits
    /// were missed, another process wrote, or there were more changes than a commit names.
    public func isIncomplete(inCollection collection: String) -> Bool {
        isExternal || missedCommits > 0 || changes.collections[ExactString(collection)]?.isOverflown == true
    }

    /// Whether anything in the collection was inserted, set, touched or removed, or may have been.
    public func hasChange(inCollection collection: String) -> Bool {
        isIncomplete(inCollection: collection) || changes.isAllCleared
            || changes.collections[ExactString(collection)] != nil
    }

    /// Whether the row was inserted, set, touched or removed, or may have been.
    public func hasChange(forKey key: String, inCollection collection: String) -> Bool {
        if isIncomplete(inCollection: collection) || changes.isAllCleared { return true }
        guard let collection = changes.collections[ExactString(collection)] else { return false }
        return collection.isCleared || collection.rows[ExactString(key)] != nil
    }

    /// Whether all rows of the collection were removed in one go.
    public func didClear(collection: String) -> Bool {
        changes.isAllCleared || changes.collections[ExactString(collection)]?.isCleared == true
    }

    /// Whether all rows of all collections were removed in one go.
    public var didClearAllCollections: Bool { changes.isAllCleared }

    /// The collections with changes, sorted. After `didClearAllCollections` only those with changes since.
    public var changedCollections: [String] { changes.collections.keys.map(\.string).sorted() }

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

    /// The keys of the rows that were touched, sorted.
    public func touchedKeys(inCollection collection: String) -> [String] {
        keys(collection) { !$0.isDisjoint(with: [.touchedObject, .touchedMetadata]) }
    }

    /// The keys of the rows that were removed one by one, sorted.
    public func removedKeys(inCollection collection: String) -> [String] {
        keys(collection) { $0.contains(.removed) }
    }

    private func keys(_ collection: String, where isWanted: (RowChangeRecord.Flags) -> Bool) -> [String] {
        (changes.collections[ExactString(collection)]?.rows ?? [:])
            .filter { isWanted($0.value.flags) }.keys.map(\.string).sorted()
    }

    // MARK: Extensions

    /// What an extension changed, as its transaction returned it from `changesForConnections()`.
    ///
    /// - Parameter name: The name that the extension is registered under.
    /// - Returns: The changes; nil without any, and where they aren't known: see `mayMissChanges(ofExtension:)`.
    public func changes(ofExtension name: String) -> (any Sendable)? {
        extensionChanges.first { $0.name == name }?.changes
    }

    /// Whether `changes(ofExtension:)` may lack changes: commits were missed, another process wrote, or this commit
    /// registered or unregistered the extension.
    ///
    /// - Parameter name: The name that the extension is registered under.
    public func mayMissChanges(ofExtension name: String) -> Bool {
        isExternal || missedCommits > 0
            || registry.map { $0.allSatisfy { $0.name != name || $0.sinceSnapshot == snapshot } } == true
    }

    func hasChange(ofExtension generation: UInt64, where isWanted: (any Sendable) -> Bool) -> Bool {
        if isExternal || missedCommits > 0 { return true }
        if let registry, !registry.contains(where: { $0.generation == generation }) { return true }
        return extensionChanges.contains { $0.generation == generation && isWanted($0.changes) }
    }
}

/// A commit of this process, with the data that other connections need to follow it.
struct CommitRecord: Sendable {
    let previous: SnapshotMark
    let mark: SnapshotMark
    let changes: CommitChanges
    /// Changes that extensions pass to their other connections, in the order of registration.
    let extensionChanges: [ExtensionChanges]
    /// Extensions from this commit on, if it registered or unregistered one.
    let registry: [RegisteredExtension]?
    /// Connection that made the commit, or nil if the library did.
    var connection: ConnectionIdentity?

    /// Number of changed keys and of extension changes, which limits the log.
    var changeCount: Int { extensionChanges.reduce(changes.keyCount) { $0 + $1.count } }
}

/// Changes of one extension in one commit.
struct ExtensionChanges: Sendable {
    let name: String
    let generation: UInt64
    let changes: any Sendable

    /// 1 for extensions that don't count their changes.
    var count: Int { (changes as? any YapDatabaseCountedChanges)?.count ?? 1 }
}

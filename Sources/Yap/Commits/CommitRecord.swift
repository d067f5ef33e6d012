/// One commit of this process as its connections need it.
struct CommitRecord: Sendable {
    let previous: SnapshotMark
    let mark: SnapshotMark
    let changes: CommitChanges
    /// What extensions hand to their other connections, in the order of registration.
    let extensionChanges: [ExtensionChanges]
    /// The extensions from this commit on, when it registered or unregistered one.
    let registry: [RegisteredExtension]?
    /// The connection that made it; nil if the library did.
    var connection: ConnectionIdentity?

    /// The number of changed keys and of the extensions' changes, which the log bounds.
    var changeCount: Int { extensionChanges.reduce(changes.keyCount) { $0 + $1.count } }
}

/// What one extension changed in one commit.
struct ExtensionChanges: Sendable {
    let name: String
    let generation: UInt64
    let changes: any Sendable

    /// Extensions that don't count their changes have one.
    var count: Int { (changes as? any YapDatabaseCountedChanges)?.count ?? 1 }
}

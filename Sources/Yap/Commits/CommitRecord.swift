/// One commit of this process as its connections need it.
struct CommitRecord: Sendable {
    let previous: SnapshotMark
    let mark: SnapshotMark
    let changes: CommitChanges
    /// What extensions hand to their other connections, in the order of registration.
    let extensionChanges: [(generation: UInt64, changes: any Sendable)]
    /// The extensions from this commit on, when it registered or unregistered one.
    let registry: [RegisteredExtension]?
}

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

    /// What the app set as the transaction's `commitInfo`. nil without it, for a commit of another process, and for one
    /// that a long-lived read jumps over.
    public let info: (any Sendable)?

    let mark: SnapshotMark
    let changes: CommitChanges
    private let extensionChanges: [ExtensionChanges]
    /// The registered extensions, when the commit registered or unregistered one.
    private let registry: [RegisteredExtension]?
    private let connection: ConnectionIdentity?

    init(_ record: CommitRecord, info: (any Sendable)? = nil) {
        self.info = info
        connection = record.connection
        mark = record.mark
        isExternal = false
        changes = record.changes
        extensionChanges = record.extensionChanges
        registry = record.registry
    }

    init(external mark: SnapshotMark, missedCommits: UInt64 = 0) {
        info = nil
        connection = nil
        self.mark = mark
        self.missedCommits = missedCommits
        isExternal = true
        changes = CommitChanges()
        extensionChanges = []
        registry = nil
    }

    /// Counts a commit before this one that the receiver doesn't get.
    mutating func add(missed commit: YapDatabaseCommit) {
        missedCommits += commit.missedCommits + 1
    }

    // MARK: The connection that made it

    /// Name of the connection that made the commit (`newConnection(name:permits:)`). nil for a connection without a
    /// name, a commit of another process or of the library itself (such as a registration), and after missed commits.
    public var connectionName: String? { missedCommits > 0 ? nil : connection?.name }

    /// Whether a connection made this commit, so that an app can ignore its own.
    ///
    /// False after missed commits, which may be those of others: code that ignores its own commits then still looks at
    /// what changed.
    ///
    /// ```swift
    /// for await commit in database.commits where !commit.wasMade(by: editor) { reload() }
    /// ```
    ///
    /// - Parameter connection: A connection of the same database.
    public func wasMade(by connection: YapDatabaseConnection) -> Bool {
        missedCommits == 0 && self.connection === connection.identity
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

/// Description of the changes of one commit.
public struct YapDatabaseCommit: Sendable {
    /// Number of the commit, one more than that of the previous commit.
    public var snapshot: UInt64 { mark.number }
    /// True if another process made the commit (and perhaps others before it), so that its changes aren't known.
    public let isExternal: Bool
    /// Number of commits between the previous one and this one that the receiver didn't get. If it isn't 0, each
    /// query for a change returns true, so that code that ignores gaps stays correct.
    public internal(set) var missedCommits: UInt64 = 0

    /// The transaction's `commitInfo`. Nil if it wasn't set, for a commit of another process, and for a commit that a
    /// long-lived read skips.
    public let info: (any Sendable)?

    let mark: SnapshotMark
    let changes: CommitChanges
    private let extensionChanges: [ExtensionChanges]
    /// Registered extensions, if the commit registered or unregistered one.
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

    /// Counts an earlier commit that the receiver doesn't get.
    mutating func add(missed commit: YapDatabaseCommit) {
        missedCommits += commit.missedCommits + 1
    }

    // MARK: The connection that made it

    /// Name of the connection that made the commit (`newConnection(name:permits:)`). Nil for a connection without a
    /// name, a commit of another process or of the library itself (such as a registration), and after missed commits.
    public var connectionName: String? { missedCommits > 0 ? nil : connection?.name }

    /// Returns true if a connection made this commit, so that an app can ignore its own commits.
    ///
    /// Returns false after missed commits, because other connections may have made those. Code that ignores its own
    /// commits then still handles the changes.
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

    /// Returns the changes of an extension, as its transaction returned them from `changesForConnections()`.
    ///
    /// - Parameter name: The name that the extension is registered under.
    /// - Returns: The changes. Nil if there are none, or if they aren't known: see `mayMissChanges(ofExtension:)`.
    public func changes(ofExtension name: String) -> (any Sendable)? {
        extensionChanges.first { $0.name == name }?.changes
    }

    /// Returns true if `changes(ofExtension:)` may lack changes, because commits were missed, another process wrote,
    /// or this commit registered or unregistered the extension.
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

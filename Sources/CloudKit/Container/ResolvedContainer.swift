internal import System

/// Where a container's cloud is, as whom it is asked, and where what others change is heard of.
///
/// All containers of a process that mean the same have one: so they hear the same, are told of another user once, and
/// wait together when the server is busy. It goes with the last of them, and with it its wait for notifications and
/// its look at the credentials.
final class ResolvedContainer: Sendable {
    /// Those that a configuration names.
    static let shared = WeakTable<ContainerSettings, ResolvedContainer>()

    /// The container's identifier.
    let identifier: String
    let connection: CloudConnection
    /// Where what other devices change is heard of.
    let notifications: NotificationHub
    /// What a configuration said; nil for a place of a test's own.
    private let settings: ContainerSettings?
    /// The places of other containers at the same connection, by their identifiers.
    private let siblings = Lock<[String: ResolvedContainer]>([:])

    /// A place of its own, whatever others mean.
    init(identifier: String, connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
        settings = nil
        notifications = NotificationHub(identifier, connection)
        followAccount()
    }

    /// The place that `settings` mean. Only `ContainerSettings.place()` makes it.
    init(settings: ContainerSettings) {
        identifier = settings.identifier
        connection = settings.connection()
        self.settings = settings
        notifications = NotificationHub(identifier, connection)
        followAccount()
    }

    deinit {
        if let settings { Self.shared.forget(settings, self) }
    }

    /// The place of the container with `identifier` at the same connection: always the same one.
    func sibling(_ identifier: String) -> ResolvedContainer {
        if identifier == self.identifier { return self }
        if let resolved = siblings.withLock({ $0[identifier] }) { return resolved }
        // Made without the lock, because it listens to the account. If two threads make it, both use the first one.
        let made = ResolvedContainer(identifier: identifier, connection: connection)
        return siblings.withLock { siblings in
            let resolved = siblings[identifier] ?? made
            siblings[identifier] = resolved
            return resolved
        }
    }

    /// Drops what belongs to a user when another one signs in.
    private func followAccount() {
        let cache = connection.assetCache
        connection.account.onUserChange { [weak notifications] isOurs in
            // Another process removes them itself, and may have fetched the next user's already.
            if isOurs { cache?.removeAll() }
            notifications?.userChanged()
        }
    }
}

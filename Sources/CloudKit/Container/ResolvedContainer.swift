internal import System

/// A container with its server, its account and its notifications.
///
/// All containers of a process with equal settings share one: they get the same notifications, learn of another user
/// once, and wait together when the server is busy. It is released with the last of them, and with it the wait for
/// notifications and the observation of the credentials.
final class ResolvedContainer: Sendable {
    /// The containers that a configuration names.
    static let shared = WeakTable<ContainerSettings, ResolvedContainer>()

    /// The container's identifier.
    let identifier: String
    let connection: CloudConnection
    /// Receives the changes of other devices.
    let notifications: NotificationHub
    /// The settings of a configuration; nil for a container that a test has made.
    private let settings: ContainerSettings?
    /// Other containers at the same connection, by identifier.
    private let siblings = Lock<[String: ResolvedContainer]>([:])

    /// A container that isn't shared.
    init(identifier: String, connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
        settings = nil
        notifications = NotificationHub(identifier, connection)
        followAccount()
    }

    /// The container with these settings. Only `ContainerSettings.resolved()` calls this.
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

    /// Returns the container with `identifier` at the same connection: always the same object.
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

    /// Removes the cached data of a user when another user signs in.
    private func followAccount() {
        let cache = connection.assetCache
        connection.account.onUserChange { [weak notifications] isOurs in
            // The process with the sign-in removes its files itself, and may have fetched the next user's already.
            if isOurs { cache?.removeAll() }
            notifications?.userChanged()
        }
    }
}

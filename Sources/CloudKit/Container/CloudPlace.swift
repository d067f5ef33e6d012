internal import System

/// Where a container's cloud is, as whom it is asked, and where what others change is heard of.
///
/// All containers of a process that mean the same have one: so they hear the same, are told of another user once, and
/// wait together when the server is busy. It goes with the last of them, and with it its wait for notifications and
/// its look at the credentials.
final class CloudPlace: Sendable {
    /// Those that a configuration names.
    static let places = WeakTable<PlaceSettings, CloudPlace>()

    /// The container's identifier.
    let identifier: String
    let connection: CloudConnection
    /// Where what other devices change is heard of.
    let notifications: NotificationHub
    /// What a configuration said; nil for a place of a test's own.
    private let settings: PlaceSettings?
    /// The places of other containers at the same connection, by their identifiers.
    private let siblings = Lock<[String: CloudPlace]>([:])

    /// A place of its own, whatever others mean.
    init(identifier: String, connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
        settings = nil
        notifications = NotificationHub(identifier, connection)
        followAccount()
    }

    /// The place that `settings` mean. Only `PlaceSettings.place()` makes it.
    init(settings: PlaceSettings) {
        identifier = settings.identifier
        connection = settings.connection()
        self.settings = settings
        notifications = NotificationHub(identifier, connection)
        followAccount()
    }

    deinit {
        if let settings { Self.places.forget(settings, self) }
    }

    /// The place of the container with `identifier` at the same connection: always the same one.
    func sibling(_ identifier: String) -> CloudPlace {
        if identifier == self.identifier { return self }
        if let place = siblings.withLock({ $0[identifier] }) { return place }
        // Made without the lock, because it listens to the account. If two threads make it, both use the first one.
        let made = CloudPlace(identifier: identifier, connection: connection)
        return siblings.withLock { siblings in
            let place = siblings[identifier] ?? made
            siblings[identifier] = place
            return place
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

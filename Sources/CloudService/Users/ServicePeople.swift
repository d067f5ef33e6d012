import System

/// The key of a user lookup.
public enum ServiceUserKey: Hashable, Sendable {
    /// The address of the account.
    case emailAddress(String)
    /// The name of the user's record.
    case userRecordName(String)
}

/// True if other users can find a user's name.
public struct ServiceDiscoverability: Hashable, Sendable {
    /// True if users that know the address or the record name can look the name up.
    public var isDiscoverable: Bool
    /// True if the user is in the list of all discoverable users.
    public var isListed: Bool

    /// Makes the settings.
    public init(isDiscoverable: Bool = false, isListed: Bool = false) {
        self.isDiscoverable = isDiscoverable
        self.isListed = isListed
    }
}

/// Looks up users by address or record name. A user that isn't discoverable gets the same response as a missing one.
public protocol ServicePeople: Sendable {
    /// Returns the user, or nil if they aren't discoverable in the container.
    func person(_ key: ServiceUserKey, container: CloudService.Container) throws -> ServiceUser?

    /// Returns the users that are listed in the container, sorted by record name.
    func listedPeople(container: CloudService.Container, countMax: Int) throws -> [ServiceUser]

    /// Returns the discoverability of the token's user.
    func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) throws -> ServiceDiscoverability

    /// Sets the discoverability of the token's user.
    func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container) throws
}

extension ServiceAccountList: ServicePeople {
    /// Returns the user, or nil if they aren't discoverable.
    public func person(_ key: ServiceUserKey, container: CloudService.Container) -> ServiceUser? {
        state.withLock { state in
            state.discoverable.keys.compactMap { state.user(named: $0) }.first { user in
                switch key {
                case .emailAddress(let address): user.emailAddress?.lowercased() == address.lowercased()
                case .userRecordName(let name): user.userRecordName == name
                }
            }
        }
    }

    /// Returns the listed users, sorted by record name.
    public func listedPeople(container: CloudService.Container, countMax: Int) -> [ServiceUser] {
        state.withLock { state in
            let names = state.discoverable.filter(\.value.isListed).keys.sorted().prefix(countMax)
            return names.compactMap { state.user(named: $0) }
        }
    }

    /// Returns the discoverability of the token's user.
    public func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) -> ServiceDiscoverability {
        state.withLock { state in
            state.users[webAuthToken].flatMap { state.discoverable[$0.userRecordName] }
                ?? ServiceDiscoverability()
        }
    }

    /// Sets whether others can find the user's name.
    public func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container
    ) {
        state.withLock { state in
            guard let user = state.users[webAuthToken] else { return }
            state.discoverable[user.userRecordName] = choice.isDiscoverable ? choice : nil
        }
    }
}

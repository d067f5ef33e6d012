import System

/// By what a user looks another up.
public enum ServiceUserKey: Hashable, Sendable {
    /// By the address of the account.
    case emailAddress(String)
    /// By the name of the user's record.
    case userRecordName(String)
}

/// How far a user lets others find their name.
public struct ServiceDiscoverability: Hashable, Sendable {
    /// Who knows the user's address or record name finds the name.
    public var isDiscoverable: Bool
    /// Who asks for everybody finds the user too.
    public var isListed: Bool

    /// Makes a choice.
    public init(isDiscoverable: Bool = false, isListed: Bool = false) {
        self.isDiscoverable = isDiscoverable
        self.isListed = isListed
    }
}

/// Who may find whom. Nobody is found who doesn't want to be; asking for one that isn't there and for one who doesn't
/// want to be found is answered alike.
public protocol ServicePeople: Sendable {
    /// The user, if they let others of the container find them.
    func person(_ key: ServiceUserKey, container: CloudService.Container) throws -> ServiceUser?

    /// Those who let everybody of the container find them, by the names of their records.
    func listedPeople(container: CloudService.Container, countMax: Int) throws -> [ServiceUser]

    /// How far the user who signed in with `webAuthToken` lets others find their name.
    func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) throws -> ServiceDiscoverability

    /// Lets others find the name of the user who signed in with `webAuthToken`, or no longer.
    func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container) throws
}

extension ServiceAccountList: ServicePeople {
    /// The user, if they let others find them.
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

    /// Those who let everybody find them, by the names of their records.
    public func listedPeople(container: CloudService.Container, countMax: Int) -> [ServiceUser] {
        state.withLock { state in
            let names = state.discoverable.filter(\.value.isListed).keys.sorted().prefix(countMax)
            return names.compactMap { state.user(named: $0) }
        }
    }

    /// How far the user lets others find their name.
    public func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) -> ServiceDiscoverability {
        state.withLock { state in
            state.users[webAuthToken].flatMap { state.discoverable[$0.userRecordName] }
                ?? ServiceDiscoverability()
        }
    }

    /// Lets others find the user's name, or no longer.
    public func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container
    ) {
        state.withLock { state in
            guard let user = state.users[webAuthToken] else { return }
            state.discoverable[user.userRecordName] = choice.isDiscoverable ? choice : nil
        }
    }
}

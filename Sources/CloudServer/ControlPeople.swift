public import CloudService
import CloudStore

/// Looks up discoverable users in the control file.
extension ControlAccounts: ServicePeople {
    /// Returns the user, or nil if they aren't discoverable in the container.
    public func person(_ key: ServiceUserKey, container: CloudService.Container) throws -> ServiceUser? {
        switch key {
        case .emailAddress(let email):
            try control.people.find(email: email, container: container.identifier)?.user
        case .userRecordName(let name):
            try control.people.find(userRecordName: name, container: container.identifier)?.user
        }
    }

    /// Returns the users that are listed in the container, sorted by record name.
    public func listedPeople(container: CloudService.Container, countMax: Int) throws -> [ServiceUser] {
        try control.people.list(container: container.identifier, countMax: countMax).map(\.user)
    }

    /// Returns the discoverability of the token's user.
    public func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) throws -> ServiceDiscoverability {
        guard let session = try session(webAuthToken, container) else { return ServiceDiscoverability() }
        let choice = try control.people.discoverability(of: session)
        return ServiceDiscoverability(isDiscoverable: choice.isDiscoverable, isListed: choice.isListed)
    }

    /// Sets the discoverability of the token's user.
    public func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container
    ) throws {
        guard let session = try session(webAuthToken, container) else { return }
        try control.people.setDiscoverability(
            ControlDiscoverability(isDiscoverable: choice.isDiscoverable, isListed: choice.isListed),
            of: session)
    }

    private func session(_ token: String, _ container: CloudService.Container) throws -> ControlSession? {
        guard let session = try control.sessions.find(token: token),
            session.container == container.identifier,
            session.environment == container.environment
        else { return nil }
        return session
    }
}

extension ControlPerson {
    fileprivate var user: ServiceUser {
        ServiceUser(
            userRecordName: userRecordName, givenName: givenName, familyName: familyName, emailAddress: email)
    }
}

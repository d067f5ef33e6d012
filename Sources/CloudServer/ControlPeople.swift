public import CloudService
import CloudStore

/// Who lets others find them, as the control file keeps it.
extension ControlAccounts: ServicePeople {
    /// The user, if they let others of the container find them.
    public func person(_ key: ServiceUserKey, container: CloudService.Container) throws -> ServiceUser? {
        switch key {
        case .emailAddress(let email):
            try control.person(email: email, container: container.identifier)?.user
        case .userRecordName(let name):
            try control.person(userRecordName: name, container: container.identifier)?.user
        }
    }

    /// Those who let everybody of the container find them, by the names of their records.
    public func listedPeople(container: CloudService.Container, countMax: Int) throws -> [ServiceUser] {
        try control.listedPeople(container: container.identifier, countMax: countMax).map(\.user)
    }

    /// How far the user who signed in with `webAuthToken` lets others find their name.
    public func discoverability(
        webAuthToken: String, container: CloudService.Container
    ) throws -> ServiceDiscoverability {
        guard let session = try session(webAuthToken, container) else { return ServiceDiscoverability() }
        let choice = try control.discoverability(of: session)
        return ServiceDiscoverability(isDiscoverable: choice.isDiscoverable, isListed: choice.isListed)
    }

    /// Lets others find the name of the user who signed in with `webAuthToken`, or no longer.
    public func setDiscoverability(
        _ choice: ServiceDiscoverability, webAuthToken: String, container: CloudService.Container
    ) throws {
        guard let session = try session(webAuthToken, container) else { return }
        try control.setDiscoverability(
            ControlDiscoverability(isDiscoverable: choice.isDiscoverable, isListed: choice.isListed),
            of: session)
    }

    private func session(_ token: String, _ container: CloudService.Container) throws -> ControlSession? {
        guard let session = try control.session(token: token), session.container == container.identifier,
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

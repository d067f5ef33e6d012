public import CloudService
public import CloudStore

/// The accounts, tokens and sessions of a control file, as the services ask for them.
public struct ControlAccounts: ServiceAccounts {
    private let control: ControlStore

    /// Makes the accounts of a control file.
    public init(_ control: ControlStore) {
        self.control = control
    }

    /// The user of a token that was made for this environment of this container and has not run out.
    public func user(webAuthToken: String, container: CloudService.Container) throws -> ServiceUser? {
        guard let session = try control.session(token: webAuthToken),
            session.container == container.identifier,
            session.environment == container.environment
        else { return nil }
        return ServiceUser(
            userRecordName: session.userRecordName, givenName: session.givenName,
            familyName: session.familyName)
    }

    /// Whether the token was made for the container and not revoked. Without a token nobody may use it.
    public func admits(apiToken: String?, container: CloudService.Container) throws -> Bool {
        guard let apiToken else { return false }
        return try control.admits(apiToken: apiToken, container: container.identifier)
    }
}

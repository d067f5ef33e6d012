public import CloudService
public import CloudStore
import Crypto

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

    /// The app of the token, with the origins that it names.
    public func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp? {
        guard let apiToken, let app = try control.app(apiToken: apiToken),
            app.container == container.identifier
        else { return nil }
        return ServiceApp(origins: app.origins)
    }

    /// The key, when it was made for this environment of this container and not revoked.
    public func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
        guard let key = try control.serverKey(id: keyID), key.container == container.identifier,
            key.environment == container.environment
        else { return nil }
        return ServiceServerKey(
            publicKey: try P256PublicKey(der: key.publicKey), userRecordName: key.userRecordName)
    }
}

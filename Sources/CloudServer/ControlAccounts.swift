public import CloudService
import CloudStore
import Crypto

/// The accounts, tokens and sessions of a control file, in the form that services use.
public struct ControlAccounts: ServiceAccounts {
    let control: ControlStore
    private let isDevelopmentForEveryone: Bool
    private let publicKeys = PublicKeyCache()

    /// Makes the accounts of a control file.
    ///
    /// - Parameter isDevelopmentForEveryone: whether accounts that aren't developers may use `development`.
    public init(_ control: ControlStore, isDevelopmentForEveryone: Bool) {
        self.control = control
        self.isDevelopmentForEveryone = isDevelopmentForEveryone
    }

    /// Returns the user of an unexpired token of this environment and container.
    public func user(webAuthToken: String, container: CloudService.Container) throws -> ServiceUser? {
        guard case .user(let user, _) = try signIn(webAuthToken: webAuthToken, container: container) else {
            return nil
        }
        return user
    }

    /// The same, with the token that replaces this one.
    public func signIn(webAuthToken: String, container: CloudService.Container) throws -> ServiceSignIn {
        switch try control.sessions.signIn(token: webAuthToken) {
        case .user(let session, let replacement):
            guard session.container == container.identifier, session.environment == container.environment
            else { return .unknown }
            let user = ServiceUser(
                userRecordName: session.userRecordName, givenName: session.givenName,
                familyName: session.familyName, sessionID: session.id)
            return .user(user, replacement: replacement)
        case .ended: return .ended
        case .unknown: return .unknown
        }
    }

    /// Returns the address of the server's sign-in page.
    public func signInTarget(
        apiToken: String?, origin: String?, container: CloudService.Container
    ) throws -> String? {
        guard let apiToken,
            let ticket = try control.signInTickets.make(
                apiToken: apiToken, container: container.identifier, environment: container.environment,
                origin: origin)
        else { return nil }
        return "\(Route.signInPath)?\(SignInPage.ticketItem)=\(ticket)"
    }

    /// Returns true if the token belongs to this environment of the container and isn't revoked. A request
    /// without a token is rejected.
    public func admits(apiToken: String?, container: CloudService.Container) throws -> Bool {
        guard let apiToken, let app = try control.tokens.app(apiToken: apiToken) else { return false }
        return app.container == container.identifier && app.environments.contains(container.environment)
    }

    /// Returns true if the user may use the environment. `development` may be limited to developers.
    public func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool {
        if isDevelopmentForEveryone || container.environment != "development" { return true }
        guard let userRecordName else { return false }
        return try control.accounts.isDeveloper(
            userRecordName: userRecordName, container: container.identifier)
    }

    /// Returns the app of the token, with its origins.
    public func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp? {
        guard let apiToken, let app = try control.tokens.app(apiToken: apiToken),
            app.container == container.identifier
        else { return nil }
        return ServiceApp(
            origins: app.origins, environment: app.environments == .both ? nil : app.environments.rawValue)
    }

    /// Returns the key, if it belongs to this environment of this container and isn't revoked.
    public func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
        guard let key = try control.serverKeys.find(id: keyID) else {
            publicKeys.drop(id: keyID)
            return nil
        }
        guard key.container == container.identifier, key.environment == container.environment else {
            return nil
        }
        return ServiceServerKey(
            publicKey: try publicKeys.key(id: keyID, der: key.publicKey), userRecordName: key.userRecordName)
    }
}

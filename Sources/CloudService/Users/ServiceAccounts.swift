import CloudWire
import System

/// Authenticates requests and users.
///
/// A service calls it on a thread that may block on a file, never on an event loop. The result must depend only on
/// stored data: the same token gets the same user until it expires.
public protocol ServiceAccounts: Sendable {
    /// Returns the token's user, or nil if the token doesn't exist or has expired.
    func user(webAuthToken: String, container: CloudService.Container) throws -> ServiceUser?

    /// Returns true if requests with this API token may use the container. Nil means a request without a token.
    func admits(apiToken: String?, container: CloudService.Container) throws -> Bool

    /// Returns the app of an API token, or nil if requests with it may not use the container.
    func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp?

    /// Returns true if a user may use this environment of the container. Nil means an unauthenticated caller. It isn't
    /// called for server-to-server keys, which belong to one environment.
    func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool

    /// Returns the server-to-server key with this ID, or nil if it doesn't exist or was revoked.
    func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey?

    /// Returns the user of a web auth token and the token that replaces it. This uses the token up.
    func signIn(webAuthToken: String, container: CloudService.Container) throws -> ServiceSignIn

    /// Returns the path and query of the sign-in page, or nil if there is none.
    ///
    /// - Parameter origin: the origin of the requesting page.
    func signInTarget(
        apiToken: String?, origin: String?, container: CloudService.Container
    ) throws -> String?
}

/// Accounts in memory, for tests and experiments: every container has the same users, and requests are admitted with
/// any API token or none.
public final class ServiceAccountList: ServiceAccounts {
    struct State {
        var users: [String: ServiceUser]
        /// The discoverability of users by user record name.
        var discoverable: [String: ServiceDiscoverability] = [:]

        func user(named userRecordName: String) -> ServiceUser? {
            users.values.first { $0.userRecordName == userRecordName }
        }
    }

    let state: Lock<State>

    /// Makes a list of users by web auth token.
    public init(users: [String: ServiceUser] = [:]) {
        state = Lock(State(users: users))
    }

    /// Adds a user who signs in with `token`.
    public func add(_ user: ServiceUser, token: String) {
        state.withLock { $0.users[token] = user }
    }

    /// Returns the token's user in any container.
    public func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
        state.withLock { $0.users[webAuthToken] }
    }

    /// Returns true.
    public func admits(apiToken: String?, container: CloudService.Container) -> Bool { true }
}

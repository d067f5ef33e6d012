import CloudWire
import System

/// Who may ask, and who a token's user is.
///
/// A service asks on a thread that may wait for a file, never on a network loop. Answers must not depend on
/// anything but what was kept: the same token gets the same user until it runs out.
public protocol ServiceAccounts: Sendable {
    /// The user who signed in with `webAuthToken`; nil when there is no such token, or it has run out.
    func user(webAuthToken: String, container: CloudService.Container) throws -> ServiceUser?

    /// Whether requests with this API token (nil: none was sent) may use the container.
    func admits(apiToken: String?, container: CloudService.Container) throws -> Bool

    /// The app that an API token stands for; nil: requests with it may not use the container.
    func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp?

    /// Whether a user may use this environment of the container at all; nil: somebody who hasn't signed in. Keys of
    /// servers aren't asked for: each is made for its environment.
    func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool

    /// The server-to-server key with this name; nil when there is none, or it was revoked.
    func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey?

    /// What a web auth token comes to, with the token that takes its place. The token is used by this.
    func signIn(webAuthToken: String, container: CloudService.Container) throws -> ServiceSignIn

    /// Where a user can sign in, as the path and query of a page; nil: there is no such page.
    ///
    /// - Parameter origin: of the page that asks.
    func signInTarget(
        apiToken: String?, origin: String?, container: CloudService.Container
    ) throws -> String?
}

/// Accounts in memory, for tests and for trying things out: every container has the same users, and every API
/// token is admitted, also none.
public final class ServiceAccountList: ServiceAccounts {
    struct State {
        var users: [String: ServiceUser]
        /// What users let others find of them, by the name of their records.
        var discoverable: [String: ServiceDiscoverability] = [:]

        func user(named userRecordName: String) -> ServiceUser? {
            users.values.first { $0.userRecordName == userRecordName }
        }
    }

    let state: Lock<State>

    /// Makes a list of who signs in with which web auth token.
    public init(users: [String: ServiceUser] = [:]) {
        state = Lock(State(users: users))
    }

    /// Lets `user` sign in with `token`.
    public func add(_ user: ServiceUser, token: String) {
        state.withLock { $0.users[token] = user }
    }

    /// The user whose token it is, in whatever container.
    public func user(webAuthToken: String, container: CloudService.Container) -> ServiceUser? {
        state.withLock { $0.users[webAuthToken] }
    }

    /// True.
    public func admits(apiToken: String?, container: CloudService.Container) -> Bool { true }
}

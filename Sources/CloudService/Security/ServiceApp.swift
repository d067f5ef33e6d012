public import Crypto

/// The app that an API token identifies.
public struct ServiceApp: Hashable, Sendable {
    /// The origins that may use the token, such as `https://example.com:8443`, or nil for any.
    public var origins: [String]?
    /// The environment of the token, or nil for any.
    public var environment: String?

    /// Makes an app for these origins and this environment. Nil allows any.
    public init(origins: [String]? = nil, environment: String? = nil) {
        self.origins = origins
        self.environment = environment
    }

    /// Returns true if a page of the origin may send requests. A request without an origin isn't from a page,
    /// because browsers always send it where it matters.
    func admits(origin: String?) -> Bool {
        guard let origin, let origins else { return true }
        return origins.contains(origin)
    }
}

/// A server-to-server key, with which a program of the developer signs its requests.
public struct ServiceServerKey: Hashable, Sendable {
    /// The key that verifies signatures.
    public let publicKey: P256PublicKey
    /// The creator of the program's records.
    public let userRecordName: String

    /// Makes a key.
    public init(publicKey: P256PublicKey, userRecordName: String) {
        self.publicKey = publicKey
        self.userRecordName = userRecordName
    }
}

/// The result of authenticating a web auth token.
public enum ServiceSignIn: Hashable, Sendable {
    /// A user is signed in. The replacement is the token that replaces this one, if there is one.
    case user(ServiceUser, replacement: String? = nil)
    /// The session has ended, so the user has to sign in again.
    case ended
    /// The token doesn't exist.
    case unknown
}

extension ServiceAccounts {
    /// Returns the token's user, without a new token.
    public func signIn(webAuthToken: String, container: CloudService.Container) throws -> ServiceSignIn {
        try user(webAuthToken: webAuthToken, container: container).map { .user($0) } ?? .unknown
    }

    /// Returns nil: there is no sign-in page.
    public func signInTarget(
        apiToken: String?, origin: String?, container: CloudService.Container
    ) throws -> String? { nil }

    /// Returns true: all users may use all environments.
    public func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool { true }

    /// Returns an app for any origin if the token is admitted.
    public func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp? {
        try admits(apiToken: apiToken, container: container) ? ServiceApp() : nil
    }

    /// Returns nil: there are no keys.
    public func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
        nil
    }
}

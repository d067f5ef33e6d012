public import Crypto

/// What an API token stands for: an app that may use the container.
public struct ServiceApp: Hashable, Sendable {
    /// The origins that may use the token, each as `https://example.com:8443`, or nil for any.
    public var origins: [String]?
    /// The environment that the token is for; nil: any.
    public var environment: String?

    /// Makes an app for these origins and this environment. Nil allows any.
    public init(origins: [String]? = nil, environment: String? = nil) {
        self.origins = origins
        self.environment = environment
    }

    /// Returns true if a page of the origin may ask. A request without an origin is no page's: a browser can't leave it
    /// out where it matters.
    func admits(origin: String?) -> Bool {
        guard let origin, let origins else { return true }
        return origins.contains(origin)
    }
}

/// A server-to-server key, by which a program of the developer signs its requests.
public struct ServiceServerKey: Hashable, Sendable {
    /// What signatures are checked with.
    public let publicKey: P256PublicKey
    /// The maker of the records that the program makes.
    public let userRecordName: String

    /// Makes a key.
    public init(publicKey: P256PublicKey, userRecordName: String) {
        self.publicKey = publicKey
        self.userRecordName = userRecordName
    }
}

/// What a web auth token comes to.
public enum ServiceSignIn: Hashable, Sendable {
    /// A user is signed in; the replacement is the token that takes this one's place, if there is one.
    case user(ServiceUser, replacement: String? = nil)
    /// It was one of ours, and is over: the user has to sign in again.
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

    /// Returns true: everybody may use all environments.
    public func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool { true }

    /// Returns an app for any origin if the token is admitted.
    public func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp? {
        try admits(apiToken: apiToken, container: container) ? ServiceApp() : nil
    }

    /// Nil: there are no keys.
    public func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
        nil
    }
}

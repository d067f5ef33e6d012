public import Crypto

/// What an API token stands for: an app that may use the container.
public struct ServiceApp: Hashable, Sendable {
    /// The origins whose pages may ask with the token, each as `https://example.com:8443`; nil: any.
    public var origins: [String]?
    /// The environment that the token is for; nil: any.
    public var environment: String?

    /// Makes an app whose pages may be of these origins (nil: of any), in this environment (nil: in any).
    public init(origins: [String]? = nil, environment: String? = nil) {
        self.origins = origins
        self.environment = environment
    }

    /// Whether a page of the origin may ask. A request without an origin is no page's: a browser can't leave it out
    /// where it matters.
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
    /// There is no such token.
    case unknown
}

extension ServiceAccounts {
    /// The token's user, whose token stays.
    public func signIn(webAuthToken: String, container: CloudService.Container) throws -> ServiceSignIn {
        try user(webAuthToken: webAuthToken, container: container).map { .user($0) } ?? .unknown
    }

    /// Nil: there is no page.
    public func signInTarget(
        apiToken: String?, origin: String?, container: CloudService.Container
    ) throws -> String? { nil }

    /// True: all environments are for everyone.
    public func admits(userRecordName: String?, container: CloudService.Container) throws -> Bool { true }

    /// An app whose pages may be of any origin, when the token is admitted.
    public func app(apiToken: String?, container: CloudService.Container) throws -> ServiceApp? {
        try admits(apiToken: apiToken, container: container) ? ServiceApp() : nil
    }

    /// Nil: there are no keys.
    public func serverKey(_ keyID: String, container: CloudService.Container) throws -> ServiceServerKey? {
        nil
    }
}

/// A person who may sign in to the server, with one password for all containers.
public struct ControlAccount: Hashable, Sendable {
    /// The number of the account's row.
    public let id: Int64
    /// What the person types. Two names that differ in case only are one.
    public let name: String
    /// The given name, when one was told.
    public let givenName: String?
    /// The family name, when one was told.
    public let familyName: String?
    /// The address by which others may find the person, where the person lets them.
    public let email: String?
    /// The password's hash as text (`PasswordHash`).
    public let passwordHash: String
    /// When the account was made, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// Whether the account may use `development` where that isn't for everyone.
    public let isDeveloper: Bool
    /// Whether nobody can sign in with it for now.
    public let isDisabled: Bool
    /// Random; from it, the server's secret and the container comes the user's record name.
    let key: [UInt8]
}

/// A container that the server serves.
public struct ControlContainer: Hashable, Sendable {
    /// The container's identifier.
    public let identifier: String
    /// When it was made, in milliseconds since 1970.
    public let createdMilliseconds: Int64
}

/// The environments that an API token is good in.
public enum TokenEnvironments: String, CaseIterable, Hashable, Sendable {
    /// `development` only.
    case development
    /// `production` only.
    case production
    /// Both of them.
    case both

    /// Whether the token is good in the environment of this name.
    public func contains(_ environment: String) -> Bool { self == .both || rawValue == environment }
}

/// An app's token for a container, without its secret, which nobody can read again.
public struct ControlToken: Hashable, Sendable {
    /// The container's identifier.
    public let container: String
    /// The token's name, unique in the container.
    public let name: String
    /// When it was made, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// The environments that it is good in.
    public let environments: TokenEnvironments
    /// The origins whose pages may use it; empty: any.
    public let origins: [String]
    /// Where the sign-in page leads with the user's token; nil: it posts a message to its opener.
    public let callback: String?
    /// What the operator wants to remember.
    public let notes: String?
}

/// What an API token stands for when a request brings it.
public struct ControlApp: Hashable, Sendable {
    /// The container's identifier.
    public let container: String
    /// The token's name.
    public let name: String
    /// The environments that the token is good in.
    public let environments: TokenEnvironments
    /// The origins whose pages may use it; nil: any.
    public let origins: [String]?
    /// Where the sign-in page leads with the user's token; nil: it posts a message to its opener.
    public let callback: String?
}

/// A server-to-server key: the public half, by which a program's signatures are checked.
public struct ControlServerKey: Hashable, Sendable {
    /// The key's name on the wire.
    public let id: String
    /// The container's identifier.
    public let container: String
    /// `development` or `production`.
    public let environment: String
    /// The name that the operator gave it, unique in the environment of the container.
    public let name: String
    /// When it was made, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// DER of a SubjectPublicKeyInfo on the curve P-256.
    public let publicKey: [UInt8]
    /// The maker of the records that the program makes.
    public let userRecordName: String
}

/// A user who is signed in: what a web auth token stands for.
public struct ControlSession: Hashable, Sendable {
    /// The container's identifier.
    public let container: String
    /// `development` or `production`.
    public let environment: String
    /// The name of the user's record in the container.
    public let userRecordName: String
    /// The account's given name, when one was told.
    public let givenName: String?
    /// The account's family name, when one was told.
    public let familyName: String?
    /// When the token runs out, in milliseconds since 1970. Where each answer brings a new token, as it stands in the
    /// file, which can be some seconds behind.
    public let expiresMilliseconds: Int64
    /// The account's name.
    public let account: String
    /// The session's name for the operator: it tells nothing of the token.
    public let id: String
    /// When the user signed in, in milliseconds since 1970.
    public let createdMilliseconds: Int64
    /// How long a token lives after its last use, when each answer brings a new one; nil: the token stays.
    public let lifeMilliseconds: Int64?
    /// The address from where the user signed in; nil when that isn't known.
    public let address: String?
    /// What the program that signed in calls itself; nil when that isn't known.
    public let client: String?
    let digest: [UInt8]
    let step: Int64
}

/// What a web auth token comes to.
public enum ControlSignIn: Hashable, Sendable {
    /// A user is signed in; the replacement is the token that takes this one's place, if there is one.
    case user(ControlSession, replacement: String?)
    /// The token was one of ours, and its session is over.
    case ended
    /// No such token.
    case unknown
}

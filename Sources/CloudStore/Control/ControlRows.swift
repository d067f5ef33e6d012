/// An account that can sign in to the server, with one password for all containers.
package struct ControlAccount: Hashable, Sendable {
    /// Number of the account's row.
    package let id: Int64
    /// Name that the person types. Upper and lower case are equal.
    package let name: String
    /// Given name, or nil if unknown.
    package let givenName: String?
    /// Family name, or nil if unknown.
    package let familyName: String?
    /// Email address by which others find the person, if the person allows it.
    package let email: String?
    /// Text of the password's hash (`PasswordHash`).
    package let passwordHash: String
    /// Creation time, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// True if the account may use `development` where that is for developers only.
    package let isDeveloper: Bool
    /// True if the account can't sign in until it is enabled again.
    package let isDisabled: Bool
    /// Random bytes. The user's record name follows from them, the server's secret and the container.
    let key: [UInt8]
}

/// A container that the server serves.
package struct ControlContainer: Hashable, Sendable {
    /// Identifier of the container.
    package let identifier: String
    /// Creation time, in milliseconds since 1970.
    package let createdMilliseconds: Int64
}

/// The environments that an API token is valid in.
package enum TokenEnvironments: String, CaseIterable, Hashable, Sendable {
    /// `development` only.
    case development
    /// `production` only.
    case production
    /// Both environments.
    case both

    /// Returns true if the token is valid in the environment of this name.
    package func contains(_ environment: String) -> Bool { self == .both || rawValue == environment }
}

/// An app's token for a container, without its secret, which can't be read again.
package struct ControlToken: Hashable, Sendable {
    /// Identifier of the container.
    package let container: String
    /// Name of the token, unique in the container.
    package let name: String
    /// Creation time, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// Environments that it is valid in.
    package let environments: TokenEnvironments
    /// Origins of the pages that may use it. Empty for any.
    package let origins: [String]
    /// Address to which the sign-in page redirects with the user's token, or nil to post a message to the page's
    /// opener.
    package let callback: String?
    /// Notes of the operator.
    package let notes: String?
}

/// The app of an API token in a request.
package struct ControlApp: Hashable, Sendable {
    /// Identifier of the container.
    package let container: String
    /// Name of the token.
    package let name: String
    /// Environments that the token is valid in.
    package let environments: TokenEnvironments
    /// Origins of the pages that may use it, or nil for any.
    package let origins: [String]?
    /// Address to which the sign-in page redirects with the user's token, or nil to post a message to the page's
    /// opener.
    package let callback: String?
}

/// A server-to-server key: the public key that checks a program's signatures.
package struct ControlServerKey: Hashable, Sendable {
    /// ID of the key on the wire.
    package let id: String
    /// Identifier of the container.
    package let container: String
    /// `development` or `production`.
    package let environment: String
    /// Name that the operator gave it, unique in the environment of the container.
    package let name: String
    /// Creation time, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// DER of a SubjectPublicKeyInfo on the curve P-256.
    package let publicKey: [UInt8]
    /// Record name of the user that creates the program's records.
    package let userRecordName: String
}

/// A session of a signed-in user, found by a web auth token.
package struct ControlSession: Hashable, Sendable {
    /// Identifier of the container.
    package let container: String
    /// `development` or `production`.
    package let environment: String
    /// Record name of the user in the container.
    package let userRecordName: String
    /// Given name of the account, or nil if unknown.
    package let givenName: String?
    /// Family name of the account, or nil if unknown.
    package let familyName: String?
    /// Time when the token expires, in milliseconds since 1970. For a token that each response replaces, this is the
    /// value in the file, which can be some seconds old.
    package let expiresMilliseconds: Int64
    /// Name of the account.
    package let account: String
    /// Name of the session for the operator. It reveals nothing about the token.
    package let id: String
    /// Time of the sign-in, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// Time after the last use when the token expires, in milliseconds, if each response replaces it. Nil for a token
    /// that stays.
    package let lifeMilliseconds: Int64?
    /// IP address of the sign-in, or nil if unknown.
    package let address: String?
    /// Name that the client gives itself, or nil if unknown.
    package let client: String?
    let digest: [UInt8]
    let step: Int64
}

/// The result of a check of a web auth token.
package enum ControlSignIn: Hashable, Sendable {
    /// The user is signed in. `replacement` is the token that replaces this one, or nil if it stays.
    case user(ControlSession, replacement: String?)
    /// The token was valid, and its session has ended.
    case ended
    /// The token is unknown.
    case unknown
}

/// A user of the container.
public struct ServiceUser: Hashable, Sendable {
    /// The name of the user's record, which identifies the user.
    public let userRecordName: String
    /// The given name, if the user has set one.
    public let givenName: String?
    /// The family name, if the user has set one.
    public let familyName: String?
    /// The address of the user's account, if known.
    public let emailAddress: String?
    /// The public name of the session of the request, if there is one. It doesn't reveal the token.
    public let sessionID: String?

    /// Makes a user.
    public init(
        userRecordName: String, givenName: String? = nil, familyName: String? = nil,
        emailAddress: String? = nil, sessionID: String? = nil
    ) {
        self.userRecordName = userRecordName
        self.givenName = givenName
        self.familyName = familyName
        self.emailAddress = emailAddress
        self.sessionID = sessionID
    }
}

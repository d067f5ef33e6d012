/// A user of the container.
public struct ServiceUser: Hashable, Sendable {
    /// The name of the user's record, by which everything of theirs is found.
    public let userRecordName: String
    /// The given name, when the user has told one.
    public let givenName: String?
    /// The family name, when the user has told one.
    public let familyName: String?
    /// The address of the user's account, when the service knows one.
    public let emailAddress: String?
    /// The public name of the session by which the user asks, when there is one: it tells nothing of the token.
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

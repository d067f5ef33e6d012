/// A user of the container.
public struct ServiceUser: Hashable, Sendable {
    /// The name of the user's record, by which everything of theirs is found.
    public let userRecordName: String
    /// The given name, when the user has told one.
    public let givenName: String?
    /// The family name, when the user has told one.
    public let familyName: String?

    /// Makes a user.
    public init(userRecordName: String, givenName: String? = nil, familyName: String? = nil) {
        self.userRecordName = userRecordName
        self.givenName = givenName
        self.familyName = familyName
    }
}

/// The answer of `users/caller`: who asks.
public struct UsersCallerResponse: Hashable, Sendable {
    /// A user's name, as far as the user shows it.
    public struct NameComponents: Hashable, Sendable {
        /// The first name.
        public var givenName: String?
        /// The last name.
        public var familyName: String?
        /// Keys that we don't know, as they came.
        public var unknown: [String: JSONValue] = [:]

        /// Makes a name.
        public init(givenName: String? = nil, familyName: String? = nil) {
            self.givenName = givenName
            self.familyName = familyName
        }
    }

    /// The user's record name.
    public var userRecordName: String
    /// The user's name.
    public var nameComponents: NameComponents?
    /// Keys that we don't know, as they came.
    public var unknown: [String: JSONValue] = [:]

    /// Makes an answer.
    public init(userRecordName: String, nameComponents: NameComponents? = nil) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
    }
}

/// The response of `users/caller`: the calling user.
package struct UsersCallerResponse: Hashable, Sendable {
    /// The parts of a user's name that the user shows.
    package struct NameComponents: Hashable, Sendable {
        /// The first name.
        package var givenName: String?
        /// The last name.
        package var familyName: String?
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes a name.
        package init(givenName: String? = nil, familyName: String? = nil) {
            self.givenName = givenName
            self.familyName = familyName
        }
    }

    /// The user's record name.
    package var userRecordName: String
    /// The user's name.
    package var nameComponents: NameComponents?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(userRecordName: String, nameComponents: NameComponents? = nil) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
    }
}

extension UsersCallerResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(userRecordName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("userRecordName", &userRecordName)
        members.optional("nameComponents", &nameComponents)
    }
}

extension UsersCallerResponse.NameComponents: JSONObject {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("givenName", &givenName)
        members.optional("familyName", &familyName)
    }
}

/// The key by which a user is looked up.
package struct UserLookupInfo: Hashable, Sendable {
    /// The user's address.
    package var emailAddress: String?
    /// The user's telephone number.
    package var phoneNumber: String?
    /// The name of the user's record.
    package var userRecordName: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a lookup by one of the keys.
    package init(emailAddress: String? = nil, phoneNumber: String? = nil, userRecordName: String? = nil) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.userRecordName = userRecordName
    }
}

/// A discovered user.
package struct UserIdentity: Hashable, Sendable {
    /// The name of the user's record.
    package var userRecordName: String
    /// The user's name.
    package var nameComponents: UsersCallerResponse.NameComponents?
    /// The lookup that found the user.
    package var lookupInfo: UserLookupInfo?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an identity.
    package init(
        userRecordName: String, nameComponents: UsersCallerResponse.NameComponents? = nil,
        lookupInfo: UserLookupInfo? = nil
    ) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
        self.lookupInfo = lookupInfo
    }
}

/// The body of `users/discover`; a GET has none.
package struct UsersDiscoverRequest: Hashable, Sendable {
    /// The users to look up, or nil for all listed users.
    package var lookupInfos: [UserLookupInfo]?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request.
    package init(lookupInfos: [UserLookupInfo]? = nil) { self.lookupInfos = lookupInfos }
}

/// The response of `users/discover`: the users found, in the request's order.
package struct UsersDiscoverResponse: Hashable, Sendable {
    /// The users.
    package var users: [UserIdentity]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(users: [UserIdentity]) { self.users = users }
}

/// A user in the requests and responses of Apple's older endpoints.
package struct WireUser: Hashable, Sendable {
    /// The name of the user's record.
    package var userRecordName: String?
    /// The given name.
    package var firstName: String?
    /// The family name.
    package var lastName: String?
    /// The user's address.
    package var emailAddress: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a user.
    package init(
        userRecordName: String? = nil, firstName: String? = nil, lastName: String? = nil,
        emailAddress: String? = nil
    ) {
        self.userRecordName = userRecordName
        self.firstName = firstName
        self.lastName = lastName
        self.emailAddress = emailAddress
    }
}

/// The body and the response of `users/lookup/email`, `users/lookup/id` and `users/lookup/contacts`, which has no body.
package struct UsersLookup: Hashable, Sendable {
    /// The users.
    package var users: [WireUser]
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a request or a response.
    package init(users: [WireUser]) { self.users = users }
}

/// The body and the response of `users/discoverability`, an endpoint of our own: whether other users can find the
/// user's name. A body without `discoverable` changes nothing.
package struct UsersDiscoverability: Hashable, Sendable {
    /// True if others can find the name by the user's address or record name.
    package var discoverable: Bool?
    /// True if a request for all users includes this one.
    package var listed: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a choice.
    package init(discoverable: Bool? = nil, listed: Bool? = nil) {
        self.discoverable = discoverable
        self.listed = listed
    }
}

extension UserLookupInfo: JSONObject {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("emailAddress", &emailAddress)
        members.optional("phoneNumber", &phoneNumber)
        members.optional("userRecordName", &userRecordName)
    }
}

extension UserIdentity: JSONObject {
    static var blank: Self { Self(userRecordName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("userRecordName", &userRecordName)
        members.optional("nameComponents", &nameComponents)
        members.optional("lookupInfo", &lookupInfo)
    }
}

extension UsersDiscoverRequest: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("lookupInfos", &lookupInfos)
    }
}

extension UsersDiscoverResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(users: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("users", &users)
    }
}

extension WireUser: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("userRecordName", &userRecordName)
        members.optional("firstName", &firstName)
        members.optional("lastName", &lastName)
        members.optional("emailAddress", &emailAddress)
    }
}

extension UsersLookup: JSONObject, JSONMessage {
    static var blank: Self { Self(users: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("users", &users)
    }
}

extension UsersDiscoverability: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.optional("discoverable", &discoverable)
        members.optional("listed", &listed)
    }
}

/// By what a user is looked up, and what a found one was looked up by.
package struct UserLookupInfo: Hashable, Sendable {
    /// The user's address.
    package var emailAddress: String?
    /// The user's telephone number.
    package var phoneNumber: String?
    /// The name of the user's record.
    package var userRecordName: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a question for one of them.
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

/// The body and the response of `users/discoverability`, an endpoint of ours: how far the user lets others find their
/// name. A body without `discoverable` changes nothing.
package struct UsersDiscoverability: Hashable, Sendable {
    /// True if others find the name by the user's address or record name.
    package var discoverable: Bool?
    /// True if a request for all users finds this one too.
    package var listed: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a choice.
    package init(discoverable: Bool? = nil, listed: Bool? = nil) {
        self.discoverable = discoverable
        self.listed = listed
    }
}

extension UserLookupInfo: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "emailAddress": emailAddress = try member.value.string()
            case "phoneNumber": phoneNumber = try member.value.string()
            case "userRecordName": userRecordName = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("emailAddress", emailAddress)
            writer.member("phoneNumber", phoneNumber)
            writer.member("userRecordName", userRecordName)
            writer.members(unknown)
        }
    }
}

extension UserIdentity: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(userRecordName: "")
        var userRecordName: String?
        for member in try node.members() {
            switch member.key {
            case "userRecordName": userRecordName = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "nameComponents":
                nameComponents = try UsersCallerResponse.NameComponents(reading: member.value)
            case "lookupInfo": lookupInfo = try UserLookupInfo(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.userRecordName = try node.required(userRecordName, "userRecordName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("userRecordName", userRecordName)
            writer.member("nameComponents", nameComponents)
            writer.member("lookupInfo", lookupInfo)
            writer.members(unknown)
        }
    }
}

extension UsersDiscoverRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "lookupInfos": lookupInfos = try member.value.array(of: UserLookupInfo.self)
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("lookupInfos", lookupInfos)
            writer.members(unknown)
        }
    }
}

extension UsersDiscoverResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(users: [])
        var users: [UserIdentity]?
        for member in try node.members() {
            switch member.key {
            case "users": users = try member.value.array(of: UserIdentity.self)
            default: try unknown.keep(member)
            }
        }
        self.users = try node.required(users, "users")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("users", users)
            writer.members(unknown)
        }
    }
}

extension WireUser: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "userRecordName": userRecordName = try member.value.string()
            case "firstName": firstName = try member.value.string()
            case "lastName": lastName = try member.value.string()
            case "emailAddress": emailAddress = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("userRecordName", userRecordName)
            writer.member("firstName", firstName)
            writer.member("lastName", lastName)
            writer.member("emailAddress", emailAddress)
            writer.members(unknown)
        }
    }
}

extension UsersLookup: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(users: [])
        var users: [WireUser]?
        for member in try node.members() {
            switch member.key {
            case "users": users = try member.value.array(of: WireUser.self)
            default: try unknown.keep(member)
            }
        }
        self.users = try node.required(users, "users")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("users", users)
            writer.members(unknown)
        }
    }
}

extension UsersDiscoverability: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "discoverable": discoverable = try member.value.bool()
            case "listed": listed = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("discoverable", discoverable)
            writer.member("listed", listed)
            writer.members(unknown)
        }
    }
}

/// The response of `users/caller`: the calling user.
package struct UsersCallerResponse: Hashable, Sendable {
    /// A user's name, as far as the user shows it.
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

extension UsersCallerResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(userRecordName: "")
        var userRecordName: String?
        for member in try node.members() {
            switch member.key {
            case "userRecordName": userRecordName = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "nameComponents": nameComponents = try NameComponents(reading: member.value)
            default: try unknown.keep(member)
            }
        }
        self.userRecordName = try node.required(userRecordName, "userRecordName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("userRecordName", userRecordName)
            writer.member("nameComponents", nameComponents)
            writer.members(unknown)
        }
    }
}

extension UsersCallerResponse.NameComponents: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: try unknown.keep(member)
            case "givenName": givenName = try member.value.string()
            case "familyName": familyName = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("givenName", givenName)
            writer.member("familyName", familyName)
            writer.members(unknown)
        }
    }
}

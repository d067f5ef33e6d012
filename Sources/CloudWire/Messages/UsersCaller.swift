/// The response of `users/caller`: the calling user.
public struct UsersCallerResponse: Hashable, Sendable {
    /// A user's name, as far as the user shows it.
    public struct NameComponents: Hashable, Sendable {
        /// The first name.
        public var givenName: String?
        /// The last name.
        public var familyName: String?
        /// Unknown keys, kept as received.
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
    /// Unknown keys, kept as received.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    public init(userRecordName: String, nameComponents: NameComponents? = nil) {
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

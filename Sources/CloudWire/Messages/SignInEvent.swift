/// The event of a webhook for an account's sign-in from a new place.
package struct SignInEvent: Hashable, Sendable {
    static let name = "sign-in"

    /// The name of the user's record in the container.
    package var userRecordName: String
    /// The address.
    package var address: String?
    /// The client's `User-Agent`.
    package var client: String?
    /// Time in milliseconds since 1970.
    package var atMilliseconds: Int64
    /// Time of the previous sign-in, in milliseconds since 1970. Nil for the first.
    package var lastAtMilliseconds: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes an event.
    package init(
        userRecordName: String, address: String?, client: String?, atMilliseconds: Int64,
        lastAtMilliseconds: Int64?
    ) {
        self.userRecordName = userRecordName
        self.address = address
        self.client = client
        self.atMilliseconds = atMilliseconds
        self.lastAtMilliseconds = lastAtMilliseconds
    }
}

extension SignInEvent: JSONObject, JSONMessage {
    static var blank: Self {
        Self(userRecordName: "", address: nil, client: nil, atMilliseconds: 0, lastAtMilliseconds: nil)
    }

    init(reading node: JSONNode) throws(JSONError) {
        try self.init(membersOf: node)
        guard try node["event"]?.string() == Self.name else { throw node.missing("event") }
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.member("event", .notNull) { node throws(JSONError) in
            _ = try node.string()
        } write: {
            $0.member("event", Self.name)
        }
        members.optional("userRecordName", orDefault: &userRecordName)
        members.optional("address", &address)
        members.optional("client", &client)
        members.optional("atMilliseconds", orDefault: &atMilliseconds)
        members.optional("lastAtMilliseconds", &lastAtMilliseconds)
    }
}

/// The event of a webhook for an account's sign-in from a new place.
package struct SignInEvent: Hashable, Sendable {
    static let name = "sign-in"

    /// The name of the user's record in the container.
    package var userRecordName: String
    /// The address.
    package var address: String?
    /// What the program that signed in calls itself.
    package var client: String?
    /// Time in milliseconds since 1970.
    package var atMilliseconds: Int64
    /// When the sign-in before was, in milliseconds since 1970; nil when there was none.
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

extension SignInEvent: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(
            userRecordName: "", address: nil, client: nil, atMilliseconds: 0, lastAtMilliseconds: nil)
        var event: String?
        for member in try node.members() {
            switch member.key {
            case "event": event = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "userRecordName": userRecordName = try member.value.string()
            case "address": address = try member.value.string()
            case "client": client = try member.value.string()
            case "atMilliseconds": atMilliseconds = try member.value.int64()
            case "lastAtMilliseconds": lastAtMilliseconds = try member.value.int64()
            default: try unknown.keep(member)
            }
        }
        _ = try node.required(event == Self.name ? event : nil, "event")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("event", Self.name)
            writer.member("userRecordName", userRecordName)
            writer.member("address", address)
            writer.member("client", client)
            writer.member("atMilliseconds", atMilliseconds)
            writer.member("lastAtMilliseconds", lastAtMilliseconds)
            writer.members(unknown)
        }
    }
}

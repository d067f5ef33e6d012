/// The file with the tokens of signed-in users.
package struct CredentialsDocument: Hashable, Sendable {
    /// One user's sign-in to one container.
    package struct Entry: Hashable, Sendable {
        /// The server's address, as the configuration names it.
        package var server: String
        /// The container's identifier.
        package var container: String
        /// `development` or `production`.
        package var environment: String
        /// The secret that names the user in each request.
        package var webAuthToken: String
        /// The user's record name in the container; nil when the server didn't say.
        package var userRecordName: String?
        /// When the token expires, in milliseconds since 1970; nil when the server didn't say.
        package var expiresAtMilliseconds: Int64?
        /// The token of the configuration that this one replaced, or nil if it comes from a sign-in.
        package var replacesToken: String?
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes an entry.
        package init(
            server: String, container: String, environment: String, webAuthToken: String,
            userRecordName: String? = nil, expiresAtMilliseconds: Int64? = nil
        ) {
            self.server = server
            self.container = container
            self.environment = environment
            self.webAuthToken = webAuthToken
            self.userRecordName = userRecordName
            self.expiresAtMilliseconds = expiresAtMilliseconds
        }
    }

    /// The sign-ins, one for each container of each server.
    package var credentials: [Entry] = []
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Holds no sign-in.
    package init() {}
}

extension CredentialsDocument: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case "credentials": credentials = try member.value.array(of: Entry.self)
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("credentials", credentials)
            writer.members(unknown)
        }
    }
}

extension CredentialsDocument.Entry: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(server: "", container: "", environment: "", webAuthToken: "")
        var server: String?
        var container: String?
        var environment: String?
        var webAuthToken: String?
        for member in try node.members() {
            switch member.key {
            case "server": server = try member.value.string()
            case "container": container = try member.value.string()
            case "environment": environment = try member.value.string()
            case "webAuthToken": webAuthToken = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "userRecordName": userRecordName = try member.value.string()
            case "expiresAtMilliseconds": expiresAtMilliseconds = try member.value.int64()
            case "replacesToken": replacesToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
        self.server = try node.required(server, "server")
        self.container = try node.required(container, "container")
        self.environment = try node.required(environment, "environment")
        self.webAuthToken = try node.required(webAuthToken, "webAuthToken")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("server", server)
            writer.member("container", container)
            writer.member("environment", environment)
            writer.member("webAuthToken", webAuthToken)
            writer.member("userRecordName", userRecordName)
            writer.member("expiresAtMilliseconds", expiresAtMilliseconds)
            writer.member("replacesToken", replacesToken)
            writer.members(unknown)
        }
    }
}

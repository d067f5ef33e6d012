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
        /// Secret that authenticates the user in each request.
        package var webAuthToken: String
        /// The user's record name in the container, or nil if the server didn't return it.
        package var userRecordName: String?
        /// Time at which the token expires, in milliseconds since 1970, or nil if the server didn't return it.
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

    /// Makes a document without sign-ins.
    package init() {}
}

extension CredentialsDocument: JSONObject, JSONMessage {
    static var blank: Self { Self() }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.notNull("credentials", &credentials)
    }
}

extension CredentialsDocument.Entry: JSONObject {
    static var blank: Self { Self(server: "", container: "", environment: "", webAuthToken: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("server", &server)
        members.required("container", &container)
        members.required("environment", &environment)
        members.required("webAuthToken", &webAuthToken)
        members.optional("userRecordName", &userRecordName)
        members.optional("expiresAtMilliseconds", &expiresAtMilliseconds)
        members.optional("replacesToken", &replacesToken)
    }
}

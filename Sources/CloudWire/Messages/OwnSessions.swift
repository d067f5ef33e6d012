/// A session of the own account.
package struct OwnSession: Hashable, Sendable {
    /// Its name, which tells nothing of its token.
    package var session: String
    /// `development` or `production`.
    package var environment: String
    /// When the user signed in, in milliseconds since 1970.
    package var createdAtMilliseconds: Int64
    /// When it expires unless it is used, in milliseconds since 1970.
    package var expiresAtMilliseconds: Int64
    /// The address from where the user signed in.
    package var address: String?
    /// What the program that signed in calls itself.
    package var client: String?
    /// True if it is the one that asks.
    package var isCurrent: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a session.
    package init(
        session: String, environment: String, createdAtMilliseconds: Int64, expiresAtMilliseconds: Int64,
        address: String? = nil, client: String? = nil, isCurrent: Bool? = nil
    ) {
        self.session = session
        self.environment = environment
        self.createdAtMilliseconds = createdAtMilliseconds
        self.expiresAtMilliseconds = expiresAtMilliseconds
        self.address = address
        self.client = client
        self.isCurrent = isCurrent
    }
}

/// The response to `GET /yap/1/sessions`: the sessions of the caller's account in the token's container.
package struct OwnSessionsResponse: Hashable, Sendable {
    /// By the time of the sign-in.
    package var sessions: [OwnSession]
    /// The token that takes the place of the one that asked, where each answer brings a new one.
    package var webAuthToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(sessions: [OwnSession], webAuthToken: String? = nil) {
        self.sessions = sessions
        self.webAuthToken = webAuthToken
    }
}

extension OwnSession: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(session: "", environment: "", createdAtMilliseconds: 0, expiresAtMilliseconds: 0)
        var session: String?
        for member in try node.members() {
            switch member.key {
            case "session": session = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "environment": environment = try member.value.string()
            case "createdAtMilliseconds": createdAtMilliseconds = try member.value.int64()
            case "expiresAtMilliseconds": expiresAtMilliseconds = try member.value.int64()
            case "address": address = try member.value.string()
            case "client": client = try member.value.string()
            case "isCurrent": isCurrent = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.session = try node.required(session, "session")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("session", session)
            writer.member("environment", environment)
            writer.member("createdAtMilliseconds", createdAtMilliseconds)
            writer.member("expiresAtMilliseconds", expiresAtMilliseconds)
            writer.member("address", address)
            writer.member("client", client)
            writer.member("isCurrent", isCurrent)
            writer.members(unknown)
        }
    }
}

extension OwnSessionsResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(sessions: [])
        for member in try node.members() {
            switch member.key {
            case "sessions": sessions = try member.value.array(of: OwnSession.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "webAuthToken": webAuthToken = try member.value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("sessions", sessions)
            writer.member("webAuthToken", webAuthToken)
            writer.members(unknown)
        }
    }
}

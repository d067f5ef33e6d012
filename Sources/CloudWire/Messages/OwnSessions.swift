/// A session of the own account.
package struct OwnSession: Hashable, Sendable {
    /// Its public name, from which its token can't be derived.
    package var session: String
    /// `development` or `production`.
    package var environment: String
    /// Time of the sign-in, in milliseconds since 1970.
    package var createdAtMilliseconds: Int64
    /// Time at which it expires if it isn't used, in milliseconds since 1970.
    package var expiresAtMilliseconds: Int64
    /// The client's address at the sign-in.
    package var address: String?
    /// The client's `User-Agent`.
    package var client: String?
    /// True if it is the caller's session.
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
    /// The sessions, sorted by the time of the sign-in.
    package var sessions: [OwnSession]
    /// The token that replaces the caller's, if each response brings a new one.
    package var webAuthToken: String?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a response.
    package init(sessions: [OwnSession], webAuthToken: String? = nil) {
        self.sessions = sessions
        self.webAuthToken = webAuthToken
    }
}

extension OwnSession: JSONObject {
    static var blank: Self {
        Self(session: "", environment: "", createdAtMilliseconds: 0, expiresAtMilliseconds: 0)
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("session", &session)
        members.optional("environment", orDefault: &environment)
        members.optional("createdAtMilliseconds", orDefault: &createdAtMilliseconds)
        members.optional("expiresAtMilliseconds", orDefault: &expiresAtMilliseconds)
        members.optional("address", &address)
        members.optional("client", &client)
        members.optional("isCurrent", &isCurrent)
    }
}

extension OwnSessionsResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(sessions: []) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.notNull("sessions", &sessions)
        members.optional("webAuthToken", &webAuthToken)
    }
}

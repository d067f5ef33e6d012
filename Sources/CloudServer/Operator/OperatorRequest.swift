import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// An administrator's request. The session and the role were checked.
struct OperatorRequest: Sendable {
    let http: HTTPRequest
    let endpoint: OperatorEndpoint
    let session: AdministratorSession
    /// The client's address.
    let peer: String
    /// The server's URL as used by the client.
    let serverURL: String?
    var reply: Reply
    /// Cancels the work after the client has disconnected, if it hasn't begun.
    let cancellation: ServiceCancellation
    /// True if users have record names chosen by a test.
    let namesUsersByKeys: Bool

    var head: HTTPRequestHead { http.head }
    var administrator: Administrator { session.administrator }

    /// The user record name in the query, in the form that this server issues, or nil if there is none.
    ///
    /// - Throws: a `WireError` for another form.
    var user: String? {
        get throws(WireError) {
            guard let name = head.queryValue("user"), !name.isEmpty else { return nil }
            guard Self.isUser(name) || namesUsersByKeys && name.hasPrefix("_") else {
                throw Refusal.badRequest("user is the record name of a user: _ and 32 hexadecimal digits")
            }
            return name
        }
    }

    /// Returns true if a text has the form of the user record names that this server issues.
    static func isUser(_ name: String) -> Bool {
        name.utf8.count == 33 && name.hasPrefix("_")
            && name.dropFirst().utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }

    /// Returns the audit line of this request.
    func auditLine(_ action: AuditLine.Action, outcome: AuditLine.Outcome = .begun) -> AuditLine {
        var line = AuditLine(
            administrator: administrator.name, role: administrator.role.rawValue, address: peer,
            action: action, outcome: outcome)
        line.requestID = head.requestID
        return line
    }
}

/// The cookie of an administrator's session.
struct OperatorCookie {
    let name: String
    private let isSecure: Bool

    /// - Parameter isSecure: true if clients reach the server by https. Otherwise the cookie's name includes
    ///   the port, because browsers send a cookie to all ports of a host, where another server may listen.
    init(isSecure: Bool, host: String?) {
        self.isSecure = isSecure
        let port = host.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } ?? 80
        name = isSecure ? "__Host-yap-operator" : "yap-operator-\(port)"
    }

    /// Returns the token of a request.
    func token(in head: HTTPRequestHead) -> String? { head.cookie(name) }

    /// Returns the header that sets the token, or deletes it if it is nil.
    func header(_ token: String?) -> (name: String, value: String) {
        let age = token == nil ? 0 : AdministratorSessions.lifeMilliseconds / 1_000
        return (
            "Set-Cookie",
            "\(name)=\(token ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        )
    }
}

import CloudStore
import CloudWire
import HTTPServer

/// The endpoints about administrators.
struct OperatorAdministration: Sendable {
    private let administrators: Administrators
    private let audit: OperatorAudit

    init(_ control: ControlStore, _ audit: OperatorAudit) {
        administrators = control.administrators
        self.audit = audit
    }

    /// Responds to a request about administrators.
    ///
    /// - Parameter serverURL: the server's URL as used by the client. Links begin with it.
    func answer(_ request: OperatorRequest, serverURL: String) throws {
        if request.endpoint == .listAdministrators {
            let own = request.administrator.id
            let entries = try administrators.list().map { JSONValue($0, isSelf: $0.administrator.id == own) }
            return request.reply.send(JSONValue.object(["administrators": .array(entries)]))
        }
        let body = try OperatorBody(request.http.body)
        let name = try body.required("name")
        let answer: JSONValue
        switch request.endpoint {
        case .addAdministrator:
            let role = try body.role()
            answer = try logged(.administratorAdded, name, request, note: role.rawValue) {
                let made = try administrators.addWithLink(name, role: role)
                return .object([
                    "administrator": JSONValue(made.administrator),
                    "link": .string(Self.link(made.secret, serverURL)),
                    "expiresMilliseconds": .integer(made.expiresMilliseconds),
                ])
            }
        case .makeLink:
            answer = try logged(.linkMade, name, request) {
                let made = try administrators.makeLink(for: name)
                return .members([
                    "link": .string(Self.link(made.secret, serverURL)),
                    "expiresMilliseconds": .integer(made.expiresMilliseconds),
                ])
            }
        case .setRole:
            let role = try body.role()
            answer = try logged(.roleChanged, name, request, note: role.rawValue) {
                try .object(["administrator": JSONValue(administrators.setRole(role, of: name))])
            }
        case .removeAdministrator:
            answer = try logged(.administratorRemoved, name, request) {
                try administrators.remove(name)
                return .object([:])
            }
        default: preconditionFailure("no endpoint of administrators")
        }
        request.reply.send(answer)
    }

    private static func link(_ secret: String, _ serverURL: String) -> String {
        "\(serverURL)/dashboard/link#\(secret)"
    }

    private func logged<Result>(
        _ action: AuditLine.Action, _ name: String, _ request: OperatorRequest, note: String? = nil,
        _ body: () throws -> Result
    ) throws -> Result {
        var line = request.auditLine(action)
        line.names = [name]
        line.count = 1
        return try audit.logging(line, note: note, body)
    }
}

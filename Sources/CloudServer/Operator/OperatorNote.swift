import CloudService
import HTTPServer

/// The request history's additional details of an administrator's request.
struct OperatorNote: Sendable {
    /// The administrator's name. Empty for a sign-in with an unknown name.
    var administrator: String
    /// `operator/` and the endpoint, without the names in its path.
    let operation: String
    let container: String?
    let environment: String?
    let database: String?
    /// The user on whose behalf the administrator acts.
    let user: String?
    /// True if the history includes it even if it succeeds, because it changes something or the audit log
    /// names it.
    var isKept: Bool

    /// - Parameter administrator: the name.
    init(_ administrator: String, _ endpoint: OperatorEndpoint, _ head: HTTPRequestHead) {
        self.administrator = administrator
        let place = endpoint.place
        var parts = head.path.dropFirst(OperatorEndpoint.prefix.count).split(separator: "/")
        parts.removeFirst(
            min(parts.count, [place.container, place.environment, place.database].count { $0 != nil }))
        let name = endpoint.namesOneInPath ? parts.dropLast() : parts[...]
        operation = "operator/" + name.joined(separator: "/")
        (container, environment, database) = (place.container, place.environment, place.database)
        // Any other text of the query isn't stored.
        user = head.queryValue("user").flatMap { OperatorRequest.isUser($0) ? $0 : nil }
        isKept = endpoint.changes(by: head.method)
    }
}

extension OperatorEndpoint {
    /// The container, environment and database in its path.
    fileprivate var place: (container: String?, environment: String?, database: String?) {
        switch self {
        case .showSession, .signIn, .signOut, .setPassword, .listSessions, .endSession, .listAdministrators,
            .addAdministrator, .makeLink, .setRole, .removeAdministrator, .audit, .containers, .addContainer,
            .people:
            (nil, nil, nil)
        case .keys(let container, _), .accounts(let container): (container, nil, nil)
        case .schema(let container, let asked):
            (container.identifier, asked.isOfContainer ? nil : container.environment, nil)
        case .webhooks(let container, _), .counts(let container, _):
            (container.identifier, container.environment, nil)
        case .history(let asked): (asked.container?.identifier, asked.container?.environment, nil)
        case .data(let container, let scope, _): (container.identifier, container.environment, scope)
        }
    }

    /// True if the last part of its path is a name.
    fileprivate var namesOneInPath: Bool {
        switch self {
        case .people(.show), .history(.request): true
        default: false
        }
    }

    /// Returns true if a request to it changes something.
    fileprivate func changes(by method: String) -> Bool {
        switch self {
        case .data: isChange
        // The audit log has few lines of rejected sign-ins, and so has the history.
        case .schema(_, .check), .signIn: false
        default: method == "POST"
        }
    }
}

import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// What the operator API answers to. `docs/OPERATOR_API.md` describes each.
enum OperatorEndpoint: Hashable {
    case showSession, signIn, signOut, setPassword
    case listSessions, endSession
    case listAdministrators, addAdministrator, makeLink, setRole, removeAdministrator
    case audit
    case containers
    case accounts(container: String)
    case schema(CloudService.Container)
    case data(CloudService.Container, scope: String, endpoint: Endpoint)

    static let prefix = "/operator/1/"

    /// The paths without a container.
    private static let fixed: [String: [String: OperatorEndpoint]] = [
        "session": ["GET": .showSession, "POST": .signIn],
        "session/end": ["POST": .signOut],
        "session/password": ["POST": .setPassword],
        "sessions": ["GET": .listSessions],
        "sessions/end": ["POST": .endSession],
        "administrators": ["GET": .listAdministrators],
        "administrators/add": ["POST": .addAdministrator],
        "administrators/link": ["POST": .makeLink],
        "administrators/role": ["POST": .setRole],
        "administrators/remove": ["POST": .removeAdministrator],
        "audit": ["GET": .audit],
        "containers": ["GET": .containers],
    ]

    /// Finds what a request asks for.
    ///
    /// - Throws: a `WireError` for a path or a method that leads nowhere.
    init(_ head: HTTPRequestHead) throws(WireError) {
        let path = String(head.path.dropFirst(Self.prefix.count))
        let methods = Self.fixed[path] ?? Self.inContainer(path)
        guard let methods else { throw Refusal.noSuchPath(head.path) }
        guard let found = methods[head.method] else {
            throw Refusal.wrongMethod(methods.keys.sorted().joined(separator: " or "))
        }
        self = found
    }

    /// Whether a path has bodies as large as those of apps. It is looked at before the body comes.
    static func takesData(_ path: String) -> Bool {
        path.utf8.count { $0 == UInt8(ascii: "/") } >= 6
    }

    /// What an administrator must be allowed to ask it; nil: no session is needed.
    var role: AdministratorRole? {
        switch self {
        case .signIn: nil
        case .showSession, .signOut, .setPassword, .listSessions, .endSession, .listAdministrators, .audit,
            .containers, .accounts, .schema:
            .look
        case .addAdministrator, .makeLink, .setRole, .removeAdministrator: .administer
        case .data: isChange ? .change : .look
        }
    }

    /// Whether it changes what an app's users have.
    var isChange: Bool {
        guard case .data(_, _, let endpoint) = self else { return false }
        return endpoint == .recordsModify || endpoint == .zonesModify
    }

    private static func inContainer(_ path: String) -> [String: OperatorEndpoint]? {
        let parts = path.pathSegments(maxSplits: 3)
        guard !parts[0].isEmpty else { return nil }
        if parts.count == 2, parts[1] == "accounts" { return ["GET": .accounts(container: parts[0])] }
        guard parts.count > 2, parts[1] == "development" || parts[1] == "production" else { return nil }
        let container = CloudService.Container(identifier: parts[0], environment: parts[1])
        if parts.count == 3, parts[2] == "schema" { return ["GET": .schema(container)] }
        guard parts.count == 4, parts[2] == "public" || parts[2] == "private",
            let endpoint = Endpoint(rawValue: parts[3]), CloudService.operatorEndpoints.contains(endpoint)
        else { return nil }
        return ["POST": .data(container, scope: parts[2], endpoint: endpoint)]
    }
}

import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints of the operator API. `docs/OPERATOR_API.md` describes each.
enum OperatorEndpoint: Hashable {
    case showSession, signIn, signOut, setPassword
    case listSessions, endSession
    case listAdministrators, addAdministrator, makeLink, setRole, removeAdministrator
    case audit
    case containers, addContainer
    case keys(container: String, OperatorKeys.Request)
    case webhooks(CloudService.Container, OperatorWebhooks.Request)
    case accounts(container: String)
    case people(OperatorAccounts.Request)
    case schema(CloudService.Container, OperatorSchema.Request)
    case counts(CloudService.Container, OperatorCounts.Request)
    case history(HistoryEndpoint)
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
        "containers/add": ["POST": .addContainer],
        "accounts": ["GET": .people(.list)],
        "accounts/add": ["POST": .people(.add)],
        "accounts/change": ["POST": .people(.change)],
        "accounts/password": ["POST": .people(.setPassword)],
        "accounts/disable": ["POST": .people(.disable)],
        "accounts/enable": ["POST": .people(.enable)],
        "accounts/delete": ["POST": .people(.delete)],
        "accounts/sessions/end": ["POST": .people(.endSessions)],
    ]

    /// Parses a request's path and method.
    ///
    /// - Throws: a `WireError` for an unknown path or a wrong method.
    init(_ head: HTTPRequestHead) throws(WireError) {
        let path = String(head.path.dropFirst(Self.prefix.count))
        var methods =
            Self.fixed[path] ?? HistoryEndpoint(path).map { ["GET": .history($0)] } ?? Self.inContainer(path)
        // Also a name that is equal to an endpoint's.
        if let name = Self.account(path) { methods = (methods ?? [:]).merging(["GET": name]) { $1 } }
        guard let methods else { throw Refusal.noSuchPath(head.path) }
        guard let found = methods[head.method] else {
            throw Refusal.wrongMethod(methods.keys.sorted().joined(separator: " or "))
        }
        self = found
    }

    /// Maximum bytes of the body for a path. Checked before the body is received.
    static func bodyBytesMax(_ path: String, _ limits: ServiceLimits) -> Int {
        switch path.utf8.count(where: { $0 == UInt8(ascii: "/") }) {
        case 7...: limits.bodyBytesMax
        case 6 where path.hasSuffix("/schema/import") || path.hasSuffix("/schema/check"): schemaBytesMax
        case 6 where path.hasSuffix("/schema/change"): operationsBytesMax
        default: smallBytesMax
        }
    }

    /// A hundred operations on a schema, with names of 255 bytes.
    private static let operationsBytesMax = 256 << 10
    /// A schema's text in JSON, where each end of a line is two bytes.
    static let schemaBytesMax = SchemaLanguage.textBytesMax + SchemaLanguage.textBytesMax / 4
    private static let smallBytesMax = 16 << 10

    /// The role that a session must have, or nil if no session is needed.
    var role: AdministratorRole? {
        switch self {
        case .signIn: nil
        case .showSession, .signOut, .setPassword, .listSessions, .endSession, .listAdministrators, .audit,
            .containers, .accounts, .counts, .history:
            .look
        case .addAdministrator, .makeLink, .setRole, .removeAdministrator, .addContainer: .administer
        case .keys(_, let request): request.role
        case .webhooks(_, let request): request.role
        case .people(let request): request.role
        case .schema(_, let request): request.role
        case .data: isChange ? .change : .look
        }
    }

    /// True if it changes the data of an app's users.
    var isChange: Bool {
        guard case .data(_, _, let endpoint) = self else { return false }
        return [.recordsModify, .zonesModify, .assetsUpload].contains(endpoint)
    }

    private static func inContainer(_ path: String) -> [String: OperatorEndpoint]? {
        let parts = path.pathSegments(maxSplits: 1)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        let container = parts[0]
        let production = CloudService.Container(identifier: container, environment: "production")
        switch parts[1] {
        case "accounts": return ["GET": .accounts(container: container)]
        case "tokens": return ["GET": .keys(container: container, .listTokens)]
        case "tokens/add": return ["POST": .keys(container: container, .addToken)]
        case "tokens/change": return ["POST": .keys(container: container, .changeToken)]
        case "tokens/revoke": return ["POST": .keys(container: container, .revokeToken)]
        case "keys": return ["GET": .keys(container: container, .listKeys)]
        case "keys/add": return ["POST": .keys(container: container, .addKey)]
        case "keys/revoke": return ["POST": .keys(container: container, .revokeKey)]
        case "schema/difference": return ["GET": .schema(production, .difference)]
        case "schema/deploy": return ["POST": .schema(production, .deploy)]
        default: return inEnvironment(parts[1], of: container)
        }
    }

    private static func inEnvironment(
        _ path: String, of container: String
    ) -> [String: OperatorEndpoint]? {
        let parts = path.pathSegments(maxSplits: 1)
        guard parts.count == 2, parts[0] == "development" || parts[0] == "production" else { return nil }
        let container = CloudService.Container(identifier: container, environment: parts[0])
        switch parts[1] {
        case "schema": return ["GET": .schema(container, .show)]
        case "schema/indexes": return ["GET": .schema(container, .indexes)]
        case "webhooks": return ["GET": .webhooks(container, .list)]
        case "webhooks/remove": return ["POST": .webhooks(container, .remove)]
        case "counts": return ["GET": .counts(container, .records)]
        case "devices": return ["GET": .counts(container, .devices)]
        case "backlog": return ["GET": .counts(container, .backlog)]
        default: break
        }
        if parts[0] == "development", let request = OperatorSchema.Request.ofDevelopment[parts[1]] {
            return ["POST": .schema(container, request)]
        }
        if let endpoint = HistoryEndpoint(parts[1], in: container) { return ["GET": .history(endpoint)] }
        let data = parts[1].pathSegments(maxSplits: 1)
        guard data.count == 2, data[0] == "public" || data[0] == "private",
            let endpoint = Endpoint(rawValue: data[1]), CloudService.operatorEndpoints.contains(endpoint)
        else { return nil }
        return ["POST": .data(container, scope: data[0], endpoint: endpoint)]
    }

    /// Returns the account in a path.
    private static func account(_ path: String) -> OperatorEndpoint? {
        let parts = path.pathSegments()
        guard parts.count == 2, parts[0] == "accounts", !parts[1].isEmpty else { return nil }
        return .people(.show(name: parts[1]))
    }
}

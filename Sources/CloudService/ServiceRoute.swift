import CloudWire

/// Where a request goes: `/database/1/{container}/{environment}/{database}/{entity}/{action}`, or for what belongs to
/// a device and to no database `/device/1/{container}/{environment}/{entity}/{action}`.
struct ServiceRoute {
    enum Endpoint: String, CaseIterable {
        case recordsModify = "records/modify"
        case recordsLookup = "records/lookup"
        case recordsQuery = "records/query"
        case changesDatabase = "changes/database"
        case changesZone = "changes/zone"
        case zonesList = "zones/list"
        case zonesLookup = "zones/lookup"
        case zonesModify = "zones/modify"
        case usersCaller = "users/caller"
        case subscriptionsModify = "subscriptions/modify"
        case subscriptionsList = "subscriptions/list"
        case subscriptionsLookup = "subscriptions/lookup"
        case tokensCreate = "tokens/create"
        case tokensRegister = "tokens/register"

        /// Whether it lies under `/device/`.
        var isOfDevice: Bool { self == .tokensCreate || self == .tokensRegister }

        /// Apple serves these by GET as well as by POST.
        var allowsGet: Bool { self == .zonesList || self == .usersCaller || self == .subscriptionsList }

        /// Whom the endpoint is for. Elsewhere it is "not applicable in the database type".
        func applies(to scope: DatabaseScope) -> Bool {
            switch self {
            case .recordsModify, .recordsLookup, .recordsQuery, .zonesList, .zonesLookup: true
            case .changesDatabase, .changesZone: scope != .public
            case .zonesModify: scope == .private
            case .usersCaller: scope == .public
            case .subscriptionsModify, .subscriptionsList, .subscriptionsLookup: true
            case .tokensCreate, .tokensRegister: true
            }
        }

        /// Whether somebody who hasn't signed in may ask: public records are for all to read.
        func isOpenToAnyone(in scope: DatabaseScope) -> Bool {
            scope == .public && (self == .recordsLookup || self == .recordsQuery)
        }
    }

    let container: String
    let environment: String
    /// For a device's endpoints the private one, which is the user's own.
    let scope: DatabaseScope
    let endpoint: Endpoint

    /// Throws a `WireError` for a path or a method that leads nowhere.
    init(_ request: WireRequest) throws {
        let parts = request.path.pathSegments()
        let isOfDevice = parts.count == 7 && parts[1] == "device"
        guard parts.count == 8 && parts[1] == "database" || isOfDevice, parts[0].isEmpty, parts[2] == "1",
            let scope = isOfDevice ? .private : DatabaseScope(rawValue: parts[5]),
            let endpoint = Endpoint(rawValue: parts.suffix(2).joined(separator: "/")),
            endpoint.isOfDevice == isOfDevice
        else { throw ServiceError.noSuchEndpoint(request.path) }
        guard ["development", "production"].contains(parts[4]), !parts[3].isEmpty else {
            throw ServiceError.noSuchContainer(parts[3], environment: parts[4])
        }
        guard request.method == "POST" || request.method == "GET" && endpoint.allowsGet else {
            throw ServiceError.badRequest("\(endpoint.rawValue) is asked for by POST")
        }
        container = parts[3]
        environment = parts[4]
        self.scope = scope
        self.endpoint = endpoint
        guard endpoint.applies(to: scope) else { throw ServiceError.notApplicable(scope) }
    }
}

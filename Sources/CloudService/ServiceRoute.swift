import CloudWire

/// Where a request goes: `/database/1/{container}/{environment}/{database}/{entity}/{action}`.
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

        /// Apple serves these by GET as well as by POST.
        var allowsGet: Bool { self == .zonesList || self == .usersCaller }

        /// Whom the endpoint is for. Elsewhere it is "not applicable in the database type".
        func applies(to scope: DatabaseScope) -> Bool {
            switch self {
            case .recordsModify, .recordsLookup, .recordsQuery, .zonesList, .zonesLookup: true
            case .changesDatabase, .changesZone: scope != .public
            case .zonesModify: scope == .private
            case .usersCaller: scope == .public
            }
        }

        /// Whether somebody who hasn't signed in may ask: public records are for all to read.
        func isOpenToAnyone(in scope: DatabaseScope) -> Bool {
            scope == .public && (self == .recordsLookup || self == .recordsQuery)
        }
    }

    let container: String
    let environment: String
    let scope: DatabaseScope
    let endpoint: Endpoint

    /// Throws a `WireError` for a path or a method that leads nowhere.
    init(_ request: WireRequest) throws {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 8, parts[0].isEmpty, parts[1] == "database", parts[2] == "1",
            let scope = DatabaseScope(rawValue: parts[5]),
            let endpoint = Endpoint(rawValue: parts[6] + "/" + parts[7])
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

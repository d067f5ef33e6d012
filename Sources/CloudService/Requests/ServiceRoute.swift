import CloudWire

/// Where a request goes: `/database/1/{container}/{environment}/{database}/{entity}/{action}`, or for what belongs to
/// a device and to no database `/device/1/{container}/{environment}/{entity}/{action}`.
struct ServiceRoute {
    let container: String
    let environment: String
    /// For a device's endpoints the private one, which is the user's own.
    let scope: DatabaseScope
    let endpoint: Endpoint
    /// How the endpoint may be asked.
    let row: EndpointRow

    /// Throws a `WireError` for a path or a method that leads nowhere.
    init(_ request: WireRequest) throws {
        let parts = request.path.pathSegments()
        let isOfDevice = parts.count > 1 && parts[1] == "device"
        let actionIndex = isOfDevice ? 5 : 6
        guard parts.count > actionIndex + 1, isOfDevice || parts[1] == "database", parts[0].isEmpty,
            parts[2] == "1", let scope = isOfDevice ? .private : DatabaseScope(rawValue: parts[5]),
            let endpoint = Endpoint(rawValue: parts.dropFirst(actionIndex).joined(separator: "/"))
        else { throw ServiceError.noSuchEndpoint(request.path) }
        let row = EndpointRow.row(of: endpoint)
        guard row.isOfDevice == isOfDevice else { throw ServiceError.noSuchEndpoint(request.path) }
        guard ["development", "production"].contains(parts[4]), !parts[3].isEmpty else {
            throw ServiceError.noSuchContainer(parts[3], environment: parts[4])
        }
        guard request.method == "POST" || request.isPreflight || request.method == "GET" && row.allowsGet
        else {
            throw ServiceError.badRequest("\(endpoint.rawValue) is asked for by POST")
        }
        container = parts[3]
        environment = parts[4]
        self.scope = scope
        self.endpoint = endpoint
        self.row = row
        guard isOfDevice || row.scopes.contains(scope) else { throw ServiceError.notApplicable(scope) }
    }
}

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

    /// - Throws: `WireError` for a path or a method that isn't served.
    init(_ request: WireRequest) throws {
        guard let path = request.parsedPath ?? ServicePath(request.path), path.family != .asset,
            let scope = path.family == .device ? .private : DatabaseScope(rawValue: path.database),
            let endpoint = Endpoint(rawValue: path.endpoint)
        else { throw ServiceError.noSuchEndpoint(request.path) }
        let isOfDevice = path.family == .device
        let row = EndpointRow.row(of: endpoint)
        guard row.isOfDevice == isOfDevice else { throw ServiceError.noSuchEndpoint(request.path) }
        guard path.namesContainer else {
            throw ServiceError.noSuchContainer(path.container, environment: path.environment)
        }
        guard request.method == "POST" || request.isPreflight || request.method == "GET" && row.allowsGet
        else {
            throw ServiceError.badRequest("\(endpoint.rawValue) requires POST")
        }
        container = path.container
        environment = path.environment
        self.scope = scope
        self.endpoint = endpoint
        self.row = row
        guard isOfDevice || row.scopes.contains(scope) else { throw ServiceError.notApplicable(scope) }
    }
}

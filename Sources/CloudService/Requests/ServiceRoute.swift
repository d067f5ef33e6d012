import CloudWire

/// The route of a request: `/database/1/{container}/{environment}/{database}/{entity}/{action}`, or for a
/// device, without a database, `/device/1/{container}/{environment}/{entity}/{action}`.
struct ServiceRoute {
    let container: String
    let environment: String
    /// For a device's endpoints it is the private database.
    let scope: DatabaseScope
    let endpoint: Endpoint
    /// The methods, databases and callers that the endpoint accepts.
    let row: EndpointRow

    /// - Throws: `WireError` for an unknown path or a wrong method.
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

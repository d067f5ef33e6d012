import CloudWire

/// Prepares requests before the store is used.
extension CloudService {
    /// Decodes and authenticates a request, without the store.
    func prepare(_ request: WireRequest) -> PreparedRequest {
        var authenticated = RequestAuthentication()
        let trace = request.isTraced ? RequestTrace() : nil
        var assets: AssetAddress?
        var container: Container?
        let work: ServiceWork
        do {
            let route = try route(of: request)
            container = Container(route)
            assets = AssetAddress(route, request, publicURL: publicURL)
            try authentication.admit(request, to: route, &authenticated)
            var caller = ServiceCaller(
                user: authenticated.user, isServerKey: authenticated.isServerKey, scope: route.scope,
                request: request
            )
            caller.trace = trace
            let asked =
                request.isPreflight ? .answer(.nothing) : try self.work(for: request, at: route, caller)
            work = authentication.once(signed: authenticated.signedChange, asked)
        } catch {
            let error = ServiceFailure.wireError(error)
            work = .answer(.error(authentication.withSignIn(error, for: request, in: container)))
        }
        trace?.cameFrom(sessionID: authenticated.user?.sessionID)
        return PreparedRequest(
            work: work, bytes: request.body.count, wantsExtras: request.wantsExtras,
            requestID: request.requestID, userRecordName: authenticated.user?.userRecordName,
            additions: authenticated.additions, assets: assets, trace: trace)
    }

    /// Returns the route of the request.
    func route(of request: WireRequest) throws -> ServiceRoute {
        guard request.body.count <= limits.bodyBytesMax else {
            throw ServiceError.limitExceeded(
                "the request has \(request.body.count) bytes; \(limits.bodyBytesMax) are allowed")
        }
        let route = try ServiceRoute(request)
        let asked = Container(route)
        guard container == nil || container == asked else {
            throw ServiceError.noSuchContainer(route.container, environment: route.environment)
        }
        return route
    }

    func work(
        for request: WireRequest, at route: ServiceRoute, _ caller: ServiceCaller
    ) throws -> ServiceWork {
        let body = request.body.isEmpty ? Array("{}".utf8) : request.body
        let operation = try OperationID(request, at: route.endpoint, body: body, caller, limits: limits)
        return try handle(
            EndpointRequest(route: route, caller: caller, body: body, operation: operation, wire: request))
    }
}

extension CloudService.Container {
    init(_ route: ServiceRoute) {
        self.init(identifier: route.container, environment: route.environment)
    }

    /// The container that a path names.
    package init(_ path: ServicePath) {
        self.init(identifier: path.container, environment: path.environment)
    }
}

import CloudWire

/// What is done with a request before the store is asked.
extension CloudService {
    /// Reads the request as far as that goes without the store, but with the accounts.
    func prepare(_ request: WireRequest) -> PreparedRequest {
        var user: ServiceUser?
        let work: ServiceWork
        do {
            let route = try route(of: request)
            user = try self.user(of: request, in: Container(route))
            let caller = ServiceCaller(user: user, scope: route.scope, request: request)
            work = try self.work(for: request, at: route, caller)
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(
            work: work, bytes: request.body.count, wantsExtras: request.wantsExtras,
            requestID: request.requestID, userRecordName: user?.userRecordName)
    }

    /// Where the request goes, when its app may ask there.
    private func route(of request: WireRequest) throws -> ServiceRoute {
        guard request.body.count <= limits.bodyBytesMax else {
            throw ServiceError.limitExceeded(
                "the request has \(request.body.count) bytes; \(limits.bodyBytesMax) are allowed")
        }
        let route = try ServiceRoute(request)
        let asked = Container(route)
        guard container == nil || container == asked else {
            throw ServiceError.noSuchContainer(route.container, environment: route.environment)
        }
        let apiToken = request.queryItem(WireHeader.apiTokenItem)
        guard try accounts.admits(apiToken: apiToken, container: asked) else {
            throw ServiceError.apiTokenRefused
        }
        return route
    }

    private func work(
        for request: WireRequest, at route: ServiceRoute, _ caller: ServiceCaller
    ) throws -> ServiceWork {
        let callers = route.row.callers(in: route.scope)
        guard caller.user != nil || callers.contains(.nobody) else {
            throw ServiceError.authenticationRequired
        }
        let body = request.body.isEmpty ? Array("{}".utf8) : request.body
        let operation = try OperationID(request, at: route.endpoint, body: body, caller, limits: limits)
        return try handle(
            EndpointRequest(route: route, caller: caller, body: body, operation: operation, wire: request))
    }

    private func user(of request: WireRequest, in container: Container) throws -> ServiceUser? {
        guard let token = request.queryItem(WireHeader.webAuthTokenItem) else { return nil }
        guard let user = try accounts.user(webAuthToken: token, container: container) else {
            throw ServiceError.authenticationFailed
        }
        return user
    }
}

extension CloudService.Container {
    fileprivate init(_ route: ServiceRoute) {
        self.init(identifier: route.container, environment: route.environment)
    }
}

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
        guard caller.user != nil || route.endpoint.isOpenToAnyone(in: caller.scope) else {
            throw ServiceError.authenticationRequired
        }
        let body = request.body.isEmpty ? Array("{}".utf8) : request.body
        let operation = try OperationID(request, at: route.endpoint, body: body, caller, limits: limits)
        switch route.endpoint {
        case .recordsModify: return try recordsModify(body, caller, operation)
        case .recordsLookup: return try recordsLookup(body, caller)
        case .recordsQuery: throw ServiceError.badRequest("queries are not served yet")
        case .changesDatabase: return try changesDatabase(body, caller)
        case .changesZone: return try changesZone(body, caller)
        case .zonesList: return try zonesList(body, caller)
        case .zonesLookup: return try zonesLookup(body, caller)
        case .zonesModify: return try zonesModify(body, caller, operation)
        case .usersCaller: return try usersCaller(caller)
        case .subscriptionsModify: return try subscriptionsModify(body, caller, operation)
        case .subscriptionsList: return try subscriptionsList(body, caller)
        case .subscriptionsLookup: return try subscriptionsLookup(body, caller)
        case .tokensCreate: return try tokensCreate(body, caller, route.courier(of: request, base: publicURL))
        case .tokensRegister:
            return try tokensRegister(body, caller, route.courier(of: request, base: publicURL))
        }
    }

    private func user(of request: WireRequest, in container: Container) throws -> ServiceUser? {
        guard let token = request.queryItem(WireHeader.webAuthTokenItem) else { return nil }
        guard let user = try accounts.user(webAuthToken: token, container: container) else {
            throw ServiceError.authenticationFailed
        }
        return user
    }

    private func usersCaller(_ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        let hasName = user.givenName != nil || user.familyName != nil
        let name = UsersCallerResponse.NameComponents(givenName: user.givenName, familyName: user.familyName)
        return .answer(
            .message(
                UsersCallerResponse(userRecordName: user.userRecordName, nameComponents: hasName ? name : nil)
            ))
    }
}

extension CloudService.Container {
    fileprivate init(_ route: ServiceRoute) {
        self.init(identifier: route.container, environment: route.environment)
    }
}

import CloudStore
public import CloudWire

/// As whom an administrator asks a service: as a user, or with the rights of a server-to-server key.
public struct OperatorCaller: Hashable, Sendable {
    /// The maker of records that an administrator makes in the public database as nobody else.
    public static let administratorRecordName = "_administrator"

    /// The record name of the user; nil: the administrator, who has all rights in the public database.
    public let userRecordName: String?

    /// Names the user.
    public init(userRecordName: String?) { self.userRecordName = userRecordName }
}

extension CloudService {
    /// What an operator may ask; all of it is answered as users' requests are.
    package static let operatorEndpoints: Set<Endpoint> = [
        .recordsQuery, .recordsLookup, .recordsModify, .zonesList, .zonesLookup, .zonesModify, .changesZone,
    ]

    /// Reads a request of an operator, whom the caller has checked already. It counts to nobody's rate.
    func prepare(_ request: WireRequest, for caller: OperatorCaller) -> PreparedRequest {
        var assets: AssetAddress?
        let work: ServiceWork
        do {
            let route = try route(of: request)
            assets = AssetAddress(route, request, publicURL: publicURL)
            work = try self.work(for: request, at: route, serviceCaller(caller, request, route))
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(
            work: work, bytes: request.body.count, wantsExtras: request.wantsExtras,
            requestID: request.requestID, assets: assets)
    }

    private func serviceCaller(
        _ caller: OperatorCaller, _ request: WireRequest, _ route: ServiceRoute
    ) throws -> ServiceCaller {
        guard Self.operatorEndpoints.contains(route.endpoint) else {
            throw ServiceError.noSuchEndpoint(request.path)
        }
        let isAdministrator = caller.userRecordName == nil
        guard !isAdministrator || route.scope == .public else {
            throw ServiceError.badRequest("a private database needs the query item user: whose it is")
        }
        guard !isAdministrator || route.row.callers(in: route.scope).contains(.serverKey) else {
            throw ServiceError.notApplicable(route.scope)
        }
        let name = caller.userRecordName ?? OperatorCaller.administratorRecordName
        return ServiceCaller(
            user: ServiceUser(userRecordName: name), isServerKey: isAdministrator, scope: route.scope,
            request: request)
    }
}

extension CloudServiceThread {
    /// Hands a request of an operator in, as `send(_:cancellation:completion:)` does for users. All operators wait in
    /// one line, which takes turns as one user's does.
    public func send(
        _ request: WireRequest, for caller: OperatorCaller, cancellation: ServiceCancellation,
        completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let service = crew.service
        let requestID = request.requestID
        let wantsExtras = request.wantsExtras
        crew.take(
            ServiceJob(
                bytes: RequestWeight.bytes(of: request.body), owner: "operators", cancellation: cancellation,
                begin: { service.prepare(request, for: caller) },
                finish: { completion(service.response(to: $0, answer: $1, groupRequests: $2)) },
                refuse: {
                    let refused = PreparedRequest(
                        work: .answer(.error(ServiceCrew.refusal)), bytes: 0, wantsExtras: wantsExtras,
                        requestID: requestID)
                    completion(service.response(to: refused, answer: .error(ServiceCrew.refusal)))
                }))
    }
}

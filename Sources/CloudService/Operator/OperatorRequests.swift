import CloudStore
import CloudWire

/// The identity of an administrator's request: a user, or the rights of a server-to-server key.
public struct OperatorCaller: Hashable, Sendable {
    /// The creator of records that an administrator creates in the public database.
    public static let administratorRecordName = "_administrator"

    /// The record name of the user, or nil for the administrator, who has all rights in the public database.
    public let userRecordName: String?

    /// Creates the identity of a user or of the administrator.
    public init(userRecordName: String?) { self.userRecordName = userRecordName }
}

extension CloudService {
    /// The endpoints that operators may call. They respond as they do to users.
    package static let operatorEndpoints: Set<Endpoint> = [
        .recordsQuery, .recordsLookup, .recordsModify, .zonesList, .zonesLookup, .zonesModify, .changesZone,
        .assetsUpload, .subscriptionsList,
    ]

    /// Prepares an operator's request. The caller has checked the session and the role. No user's rate is
    /// charged.
    func prepare(_ request: WireRequest, for caller: OperatorCaller) -> PreparedRequest {
        let trace = request.isTraced ? RequestTrace() : nil
        var assets: AssetAddress?
        let work: ServiceWork
        do {
            let route = try route(of: request)
            assets = AssetAddress(route, request, publicURL: publicURL)
            var caller = try serviceCaller(caller, request, route)
            caller.trace = trace
            let view = route.endpoint == .recordsQuery ? try OperatorView(request) : nil
            work =
                view?.isCount == true
                ? try queries.count(request.body, caller)
                : try self.work(for: request, at: route, caller).cutting(to: view?.valueBytesMax)
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(
            work: work, bytes: request.body.count, wantsExtras: request.wantsExtras,
            requestID: request.requestID, assets: assets, trace: trace)
    }

    private func serviceCaller(
        _ caller: OperatorCaller, _ request: WireRequest, _ route: ServiceRoute
    ) throws -> ServiceCaller {
        guard Self.operatorEndpoints.contains(route.endpoint) else {
            throw ServiceError.noSuchEndpoint(request.path)
        }
        let isAdministrator = caller.userRecordName == nil
        guard !isAdministrator || route.scope == .public else {
            throw ServiceError.badRequest(
                "a private database needs the query item user: the owner of the database")
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
    /// Submits an operator's request, as `send(_:cancellation:completion:)` does for users. All operators
    /// share one queue, which is scheduled like that of one user.
    package func send(
        _ request: WireRequest, for caller: OperatorCaller, cancellation: ServiceCancellation,
        completion: @escaping @Sendable (WireResponse) -> Void
    ) {
        let service = threads.service
        send(
            bytes: RequestWeight.bytes(of: request.body), owner: Self.operatorsOwner,
            wantsExtras: request.wantsExtras, requestID: request.requestID, cancellation,
            begin: { service.prepare(request, for: caller) }, completion)
    }

    /// Owner of the queue of operators' requests.
    static let operatorsOwner = "operators"
}

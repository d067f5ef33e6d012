import CloudWire

/// A request on its way to the handler of its endpoint.
struct EndpointRequest {
    let route: ServiceRoute
    let caller: ServiceCaller
    /// The body; `{}` when there was none.
    let body: [UInt8]
    /// The client's name for the write, when it gave one.
    let operation: OperationID?
    /// What has crossed the wire.
    let wire: WireRequest
}

extension WireRequest {
    /// Whether a query item is `true`, in whichever case: Apple's own clients send both.
    func flag(_ item: String) -> Bool { queryItem(item)?.lowercased() == "true" }
}

extension CloudService {
    /// Who handles what: a line for each endpoint.
    func handle(_ request: EndpointRequest) throws -> ServiceWork {
        let (body, caller, operation) = (request.body, request.caller, request.operation)
        switch request.route.endpoint {
        case .recordsModify: return try recordsModify(body, caller, operation)
        case .recordsQuery: return try recordsQuery(body, caller)
        case .recordsQueryBatch: return try recordsQueryBatch(body, caller)
        case .recordsLookup: return try recordsLookup(body, caller)
        case .recordsChanges: return try recordsChanges(body, caller)
        case .changesDatabase: return try changesDatabase(body, caller)
        case .changesZone: return try changesZone(body, caller)
        case .zonesList: return try zonesList(body, caller)
        case .zonesLookup: return try zonesLookup(body, caller)
        case .zonesModify: return try zonesModify(body, caller, operation)
        case .zonesChanges: return try zonesChanges(body, caller)
        case .usersCaller: return try usersCaller(caller)
        case .usersCurrent: return try usersCurrent(caller)
        case .usersDiscover: return try usersDiscover(request)
        case .usersLookupEmail: return try usersLookup(request, byAddress: true)
        case .usersLookupID: return try usersLookup(request, byAddress: false)
        case .usersLookupContacts: return try usersLookupContacts(request)
        case .usersDiscoverability: return try usersDiscoverability(request)
        case .subscriptionsModify: return try subscriptions.modify(body, caller, operation)
        case .subscriptionsList: return try subscriptions.list(body, caller)
        case .subscriptionsLookup: return try subscriptions.lookup(body, caller)
        case .tokensCreate: return try tokens.create(body, caller, courier(for: request))
        case .tokensRegister: return try tokens.register(body, caller, courier(for: request))
        case .assetsUpload: return try assets.upload(body, caller, assetAddress(for: request))
        case .assetsRereference: return try assets.rereference(body, caller)
        case .notificationsList: return try notifications.list(body, caller)
        case .notificationsRead: return try notifications.read(body, caller)
        // Doors for what comes with sharing.
        case .recordsResolve, .recordsAccept, .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus:
            throw ServiceError.notServed(request.route.endpoint)
        }
    }

    private func assetAddress(for request: EndpointRequest) -> AssetAddress {
        AssetAddress(request.route, request.wire, publicURL: publicURL)
    }

    private func courier(for request: EndpointRequest) -> CourierAddress {
        request.route.courier(of: request.wire, base: publicURL)
    }
}

extension ServiceError {
    static func notServed(_ endpoint: Endpoint) -> WireError {
        badRequest("\(endpoint.rawValue) is not served yet")
    }
}

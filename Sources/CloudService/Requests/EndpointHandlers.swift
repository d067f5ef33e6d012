import CloudWire

/// A request to the handler of its endpoint.
struct EndpointRequest {
    let route: ServiceRoute
    let caller: ServiceCaller
    /// The body, or `{}` if there was none.
    let body: [UInt8]
    /// The client's operation id of the write, if it has one.
    let operation: OperationID?
    /// The request as received.
    let wire: WireRequest
}

extension WireRequest {
    /// Returns true if a query item is `true`, in any case, since Apple's own clients send both.
    func flag(_ item: String) -> Bool { queryItem(item)?.lowercased() == "true" }
}

extension CloudService {
    /// Routes a request to the handler of its endpoint.
    func handle(_ request: EndpointRequest) throws -> ServiceWork {
        let (body, caller, operation) = (request.body, request.caller, request.operation)
        switch request.route.endpoint {
        case .recordsModify: return try records.modify(body, caller, operation)
        case .recordsQuery: return try queries.query(body, caller)
        case .recordsQueryBatch: return try queries.queryBatch(body, caller)
        case .recordsLookup: return try records.lookup(body, caller)
        case .recordsChanges: return try feeds.records(body, caller)
        case .changesDatabase: return try feeds.database(body, caller)
        case .changesZone: return try feeds.zone(body, caller)
        case .zonesList: return try zones.list(body, caller)
        case .zonesLookup: return try zones.lookup(body, caller)
        case .zonesModify: return try zones.modify(body, caller, operation)
        case .zonesChanges: return try feeds.zones(body, caller)
        case .usersCaller: return try users.caller(caller)
        case .usersCurrent: return try users.current(caller)
        case .usersDiscover: return try users.discover(request)
        case .usersLookupEmail: return try users.lookup(request, byAddress: true)
        case .usersLookupID: return try users.lookup(request, byAddress: false)
        case .usersLookupContacts: return try users.lookupContacts(request)
        case .usersDiscoverability: return try users.discoverability(request)
        case .subscriptionsModify: return try subscriptions.modify(body, caller, operation)
        case .subscriptionsList: return try subscriptions.list(body, caller)
        case .subscriptionsLookup: return try subscriptions.lookup(body, caller)
        case .tokensCreate: return try tokens.create(body, caller, courier(for: request))
        case .tokensRegister: return try tokens.register(body, caller, courier(for: request))
        case .assetsUpload: return try assets.upload(body, caller, assetAddress(for: request))
        case .assetsRereference: return try assets.rereference(body, caller)
        case .notificationsList: return try notifications.list(body, caller)
        case .notificationsRead: return try notifications.read(body, caller)
        // Endpoints that are reserved for sharing.
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

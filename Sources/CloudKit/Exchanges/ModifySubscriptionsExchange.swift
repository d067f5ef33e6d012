internal import CloudWire
internal import Seams

/// Saves and deletes subscriptions, in one request.
struct ModifySubscriptionsExchange: Exchange {
    enum Event: Sendable {
        case saved(CKSubscription.ID, Result<CKSubscription, CKError>)
        case deleted(CKSubscription.ID, Result<Void, CKError>)
    }

    private let address: RequestAddress
    private let saves: [CKSubscription]
    private let deletions: [CKSubscription.ID]
    private var refused: [Event]
    private var end: Result<Void, CKError>?

    init(saving saves: [CKSubscription], deleting deletions: [CKSubscription.ID], address: RequestAddress) {
        self.address = address
        self.deletions = deletions
        let accepts = { (subscription: CKSubscription) in
            address.scope != .public || subscription.subscriptionType == .query
        }
        self.saves = saves.filter(accepts)
        refused = saves.filter { !accepts($0) }.map { .saved($0.subscriptionID, .failure(.notInPublic)) }
        if self.saves.isEmpty && deletions.isEmpty { end = .success(()) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        guard refused.isEmpty else {
            defer { refused = [] }
            return .report(refused)
        }
        if let end { return .finished(try end.get()) }
        // Making one that is there replaces it, so that a save never has to know.
        let operations =
            saves.map { SubscriptionOperation(operationType: .create, subscription: $0.wire) }
            + deletions.map {
                SubscriptionOperation(
                    operationType: .delete, subscription: WireSubscription(subscriptionID: $0))
            }
        let message = SubscriptionsModifyRequest(operations: operations)
        return .send(try address.request("subscriptions/modify", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try Message.decode(SubscriptionsResponse.self, from: reply)
            let results = response.subscriptions
            guard results.count == saves.count + deletions.count else {
                throw CKError.unreadable("\(results.count) results for another number of subscriptions")
            }
            end = .success(())
            return zip(saves, results).map { subscription, result in saved(subscription, result) }
                + zip(deletions, results.dropFirst(saves.count)).map { subscriptionID, result in
                    switch result {
                    case .subscription: .deleted(subscriptionID, .success(()))
                    case .error(let error): .deleted(subscriptionID, .failure(CKError(error)))
                    }
                }
        } catch {
            end = .failure(error)
            return []
        }
    }

    private func saved(_ subscription: CKSubscription, _ result: SubscriptionResult) -> Event {
        switch result {
        case .subscription: .saved(subscription.subscriptionID, .success(subscription))
        case .error(let error): .saved(subscription.subscriptionID, .failure(CKError(error)))
        }
    }
}

/// Fetches subscriptions by their IDs, or all.
struct FetchSubscriptionsExchange: Exchange {
    typealias Event = (subscriptionID: CKSubscription.ID, result: Result<CKSubscription, CKError>)

    /// Pages of a list that are asked for at most: beyond them a server goes round in circles.
    static let pagesMax = 1_000

    private let address: RequestAddress
    /// The subscriptions asked for; nil for all.
    private let subscriptionIDs: [CKSubscription.ID]?
    private var pageToken: String?
    private var pages = 0
    private var end: Result<Void, CKError>?

    init(subscriptionIDs: [CKSubscription.ID]?, address: RequestAddress) {
        self.address = address
        self.subscriptionIDs = subscriptionIDs
        if subscriptionIDs?.isEmpty == true { end = .success(()) }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        if let end { return .finished(try end.get()) }
        guard let subscriptionIDs else {
            let message = SubscriptionsListRequest(syncToken: pageToken)
            return .send(try address.request("subscriptions/list", message: message))
        }
        let message = SubscriptionsLookupRequest(
            subscriptions: subscriptionIDs.map { WireSubscription(subscriptionID: $0) })
        return .send(try address.request("subscriptions/lookup", message: message))
    }

    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event] {
        do throws(CKError) {
            let response = try Message.decode(SubscriptionsResponse.self, from: reply)
            let results = response.subscriptions
            guard subscriptionIDs == nil || results.count == subscriptionIDs?.count else {
                throw CKError.unreadable("\(results.count) results for another number of subscriptions")
            }
            pages += 1
            pageToken = response.syncToken
            let moreComing =
                subscriptionIDs == nil && response.moreComing == true && pageToken != nil
                && pages < Self.pagesMax
            if !moreComing { end = .success(()) }
            return results.enumerated().compactMap { index, result in
                switch result {
                case .subscription(let wire):
                    return (subscriptionIDs?[index] ?? wire.subscriptionID, address.subscription(wire))
                case .error(let error):
                    let subscriptionID = subscriptionIDs?[index] ?? error.subscriptionID
                    return subscriptionID.map { ($0, .failure(CKError(error))) }
                }
            }
        } catch {
            end = .failure(error)
            return []
        }
    }
}

extension CKError {
    fileprivate static let notInPublic = CKError(
        .badDatabase, "The public database takes no database or zone subscriptions.")
}

extension CKSubscription {
    /// The subscription as it goes out.
    fileprivate var wire: WireSubscription {
        let state = state.withLock { $0 }
        let kind: WireSubscription.Kind =
            switch state.type {
            case .query: .query
            case .recordZone: .zone
            case .database: .database
            }
        return WireSubscription(
            subscriptionID: state.subscriptionID, subscriptionType: kind, zoneID: state.zoneID?.wire,
            notificationInfo: state.info)
    }
}

extension RequestAddress {
    /// A subscription that the server has.
    fileprivate func subscription(_ wire: WireSubscription) -> Result<CKSubscription, CKError> {
        let subscription: CKSubscription
        switch (wire.subscriptionType, wire.zoneID) {
        case (.database, _):
            subscription = CKDatabaseSubscription(subscriptionID: wire.subscriptionID)
        case (.zone, let zone?):
            subscription = CKRecordZoneSubscription(
                zoneID: zoneID(zone), subscriptionID: wire.subscriptionID)
        default:
            let kind = wire.subscriptionType?.rawValue ?? "none"
            return .failure(
                CKError(.incompatibleVersion, "This framework has no subscriptions of the type \(kind)."))
        }
        subscription.state.withLock { $0.info = wire.notificationInfo }
        return .success(subscription)
    }
}

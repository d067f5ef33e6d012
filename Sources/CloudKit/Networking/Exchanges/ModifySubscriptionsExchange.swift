internal import CloudWire
internal import System

/// Saves and deletes subscriptions, in one request.
struct ModifySubscriptionsExchange: OperationExchange {
    enum Event: Sendable {
        case saved(CKSubscription.ID, Result<CKSubscription, CKError>)
        case deleted(CKSubscription.ID, Result<Void, CKError>)
    }

    private let address: RequestAddress
    private let saves: [(subscription: CKSubscription, wire: WireSubscription)]
    private let deletions: [CKSubscription.ID]
    private var refused: [Event]
    private var end: Result<Void, CKError>?

    init(saving saves: [CKSubscription], deleting deletions: [CKSubscription.ID], address: RequestAddress) {
        self.address = address
        self.deletions = deletions
        var written: [(CKSubscription, WireSubscription)] = []
        var refused: [Event] = []
        for subscription in saves {
            do throws(CKError) {
                try Self.check(subscription, address.scope)
                var wire = try subscription.wire(clock: address.clock)
                wire.query = wire.query.map { address.outgoing($0, in: wire.zoneID) }
                written.append((subscription, wire))
            } catch {
                refused.append(.saved(subscription.subscriptionID, .failure(error)))
            }
        }
        self.saves = written
        self.refused = refused
        if self.saves.isEmpty && deletions.isEmpty { end = .success(()) }
    }

    /// Rejects subscriptions that the database doesn't support.
    private static func check(_ subscription: CKSubscription, _ scope: DatabaseScope) throws(CKError) {
        let isOfQuery = subscription.subscriptionType == .query
        if scope == .public && !isOfQuery { throw .notInPublic }
        if scope == .shared && isOfQuery { throw .notInShared }
    }

    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Void> {
        guard refused.isEmpty else {
            defer { refused = [] }
            return .report(refused)
        }
        if let end { return .finished(try end.get()) }
        // Creating an existing subscription replaces it, so a save doesn't need to know if it exists.
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
            let response = try ResponseDecoder.decode(SubscriptionsResponse.self, from: reply)
            let results = response.subscriptions
            guard results.count == saves.count + deletions.count else {
                throw CKError.unreadable("\(results.count) results for another number of subscriptions")
            }
            end = .success(())
            return zip(saves, results).map { save, result in saved(save.subscription, result, reply) }
                + zip(deletions, results.dropFirst(saves.count)).map { subscriptionID, result in
                    switch result {
                    case .subscription: .deleted(subscriptionID, .success(()))
                    case .error(let error):
                        .deleted(subscriptionID, .failure(address.error(error, in: reply)))
                    }
                }
        } catch {
            end = .failure(error)
            return []
        }
    }

    private func saved(
        _ subscription: CKSubscription, _ result: SubscriptionResult, _ reply: Result<WireResponse, CKError>
    ) -> Event {
        switch result {
        case .subscription: .saved(subscription.subscriptionID, .success(subscription))
        case .error(let error):
            .saved(subscription.subscriptionID, .failure(address.error(error, in: reply)))
        }
    }
}

/// Fetches subscriptions by their IDs, or all.
struct FetchSubscriptionsExchange: OperationExchange {
    typealias Event = (subscriptionID: CKSubscription.ID, result: Result<CKSubscription, CKError>)

    /// Maximum pages of a list. A server with more has lost its place.
    static let pagesMax = 1_000

    private let address: RequestAddress
    /// The subscriptions to fetch; nil for all.
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
            let response = try ResponseDecoder.decode(SubscriptionsResponse.self, from: reply)
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
                    return subscriptionID.map { ($0, .failure(address.error(error, in: reply))) }
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
    fileprivate static let notInShared = CKError(
        .badDatabase, "The shared database takes no query subscriptions.")
}

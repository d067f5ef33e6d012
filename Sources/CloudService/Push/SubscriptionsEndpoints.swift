import CloudStore
import CloudWire
import System

/// The endpoints about subscriptions.
struct SubscriptionsEndpoints: Sendable {
    let limits: ServiceLimits
    let random: any RandomSource
    let schemas: Schemas
    let answers: KeptAnswers

    func modify(
        _ body: [UInt8], _ caller: ServiceCaller, _ operation: OperationID?
    ) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        let request = try SubscriptionsModifyRequest(request: body)
        try limits.check(count: request.operations.count, caller)
        let ids = request.operations.map(\.subscription.subscriptionID)
        guard Set(ids).count == ids.count else {
            throw ServiceError.badRequest("more than one operation on a subscription")
        }
        guard let database = caller.database else {
            throw ServiceError.badRequest(
                "subscriptions to the \(caller.scope.rawValue) database are not served yet")
        }
        let decider = SubscriptionsDecider(
            operations: request.operations, caller: caller, user: user.userRecordName, database: database,
            limits: limits, random: random)
        return answers.once(operation, KeptMessageForm<SubscriptionsResponse>()) { writer in
            var wanted = StoreLoad()
            wanted.databases = [database]
            wanted.zones = decider.zones
            wanted.notifications.subscriptionsOf = [decider.subscriber]
            wanted.devicesOf = [decider.user]
            var loaded = try writer.load(wanted)
            wanted = StoreLoad()
            wanted.notifications.watches = decider.watches(loaded: loaded)
            loaded.merge(try writer.load(wanted))
            let decision = decider.decide(loaded: loaded, schema: try self.schemas.schema(in: writer))
            try writer.apply(decision.changes)
            return SubscriptionsResponse(subscriptions: decision.results)
        }
    }

    func list(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        _ = try SubscriptionsListRequest(request: body)
        return try readSubscriptions(caller) { rows in
            try rows.map { .subscription(try WireSubscription(json: $0.content)) }
        }
    }

    func lookup(_ body: [UInt8], _ caller: ServiceCaller) throws -> ServiceWork {
        let request = try SubscriptionsLookupRequest(request: body)
        try limits.check(count: request.subscriptions.count, caller)
        return try readSubscriptions(caller) { rows in
            try request.subscriptions.map { asked in
                guard let row = rows.first(where: { $0.key.subscriptionID == asked.subscriptionID }) else {
                    return .error(ServiceError.subscriptionNotFound.ofSubscription(asked.subscriptionID))
                }
                return .subscription(try WireSubscription(json: row.content))
            }
        }
    }

    /// Reads all of the caller's subscriptions in the database, up to `subscriptionsMax`.
    private func readSubscriptions(
        _ caller: ServiceCaller,
        _ results: @escaping @Sendable ([SubscriptionRow]) throws -> [SubscriptionResult]
    ) throws -> ServiceWork {
        guard let user = caller.user?.userRecordName else { throw ServiceError.authenticationRequired }
        guard let database = caller.database else {
            return .answer(.message(SubscriptionsResponse(subscriptions: try results([]))))
        }
        return .read { reader in
            var wanted = StoreLoad()
            let subscriber = SubscriberKey(database: database, user: user)
            wanted.notifications.subscriptionsOf = [subscriber]
            let rows = try reader.load(wanted).notifications.subscriptions[subscriber] ?? []
            return .message(SubscriptionsResponse(subscriptions: try results(rows)))
        }
    }
}

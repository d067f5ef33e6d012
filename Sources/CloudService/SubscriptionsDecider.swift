import CloudStore
import CloudWire
import Seams

/// Decides a `subscriptions/modify` request in a private database: in order, each operation for itself. Pure.
struct SubscriptionsDecider {
    struct Decision {
        var changes = StoreChanges()
        var results: [SubscriptionResult] = []
    }

    let operations: [SubscriptionOperation]
    let caller: ServiceCaller
    let user: String
    let database: DatabaseKey
    let limits: ServiceLimits
    let random: any RandomSource

    /// The zones that the operations name.
    var zones: [ZoneKey] {
        Set(operations.compactMap { try? caller.key(of: $0.subscription.zoneID) }).filter { !$0.isDefault }
            .sorted()
    }

    func decide(loaded: StoreLoaded) -> Decision {
        var decision = Decision()
        var ids = Set((loaded.subscriptions[database] ?? []).map(\.key.subscriptionID))
        let before = ids
        for operation in operations {
            let subscriptionID = operation.subscription.subscriptionID
            do {
                switch operation.operationType {
                case .create, .update:
                    let subscription = try checked(operation, among: ids, loaded: loaded)
                    decision.changes.subscriptions.append(try row(subscription))
                    decision.results.append(.subscription(subscription))
                    ids.insert(subscriptionID)
                case .delete:
                    guard ids.remove(subscriptionID) != nil else { throw ServiceError.subscriptionNotFound }
                    remove(subscriptionID, loaded.devices[user] ?? [], &decision.changes)
                    decision.results.append(
                        .subscription(WireSubscription(subscriptionID: subscriptionID, deleted: true)))
                }
            } catch {
                var error = ServiceFailure.wireError(error)
                error.subscriptionID = subscriptionID
                decision.results.append(.error(error))
            }
        }
        if ids != before {
            var feed =
                loaded.databases[database]
                ?? DatabaseRow(key: database, epoch: random.nextEpoch(), counter: 0)
            feed.subscriptionCount = Int64(ids.count)
            decision.changes.databases = [feed]
        }
        return decision
    }

    /// The subscription as it is kept. One that is made again is replaced, so that a repeated request does no harm.
    private func checked(
        _ operation: SubscriptionOperation, among ids: Set<String>, loaded: StoreLoaded
    ) throws -> WireSubscription {
        let asked = operation.subscription
        try ModifyBatch.checkName(asked.subscriptionID, of: "subscriptionID", limits)
        let isThere = ids.contains(asked.subscriptionID)
        guard isThere || operation.operationType == .create else { throw ServiceError.subscriptionNotFound }
        guard isThere || ids.count < limits.subscriptionsMax else {
            throw ServiceError.tooManySubscriptions(limits.subscriptionsMax)
        }
        var subscription = WireSubscription(
            subscriptionID: asked.subscriptionID, subscriptionType: asked.subscriptionType,
            notificationInfo: asked.notificationInfo)
        switch asked.subscriptionType {
        case .database?:
            break
        case .zone?:
            let zoneID = asked.zoneID ?? ZoneID()
            let key = try caller.key(of: zoneID)
            guard !key.isDefault else {
                throw ServiceError.badRequest("the default zone has no changes feed to subscribe to")
            }
            guard let zone = loaded.zones[key], !zone.isDeleted else {
                throw ServiceError.zoneNotFound(zoneID)
            }
            subscription.zoneID = key.zoneID
        case .query?:
            throw ServiceError.badRequest("query subscriptions are not served yet")
        default:
            throw ServiceError.badRequest("subscriptionType must be zone or database")
        }
        return subscription
    }

    private func row(_ subscription: WireSubscription) throws -> SubscriptionRow {
        let content = try subscription.json()
        guard content.count <= limits.subscriptionBytesMax else {
            throw ServiceError.badRequest(
                "the subscription has \(content.count) bytes; \(limits.subscriptionBytesMax) are allowed")
        }
        return SubscriptionRow(
            key: key(subscription.subscriptionID), zoneName: subscription.zoneID?.zoneName, content: content)
    }

    /// What waits because of the subscription goes with it.
    private func remove(_ subscriptionID: String, _ devices: [DeviceRow], _ changes: inout StoreChanges) {
        changes.removedSubscriptions.append(key(subscriptionID))
        changes.removedPushes += devices.map {
            PushKey(device: $0.key, database: database, subscriptionID: subscriptionID)
        }
    }

    private func key(_ subscriptionID: String) -> SubscriptionKey {
        SubscriptionKey(database: database, user: user, subscriptionID: subscriptionID)
    }
}

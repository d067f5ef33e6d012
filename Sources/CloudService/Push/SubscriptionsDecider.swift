import CloudStore
import CloudWire
import System

/// Decides a `subscriptions/modify` request: in order, each operation separately. Pure.
struct SubscriptionsDecider {
    struct Decision {
        var changes = StoreChanges()
        var results: [SubscriptionResult] = []
    }

    let operations: [SubscriptionOperation]
    let caller: ServiceCaller
    let user: String
    let database: StoredDatabaseKey
    let limits: ServiceLimits
    let random: any RandomSource

    /// The zones that the operations name.
    var zones: [ZoneKey] {
        Set(operations.compactMap { try? caller.key(of: $0.subscription.zoneID) }).filter { !$0.isDefault }
            .sorted()
    }

    /// The owner of the changed subscriptions.
    var subscriber: SubscriberKey { SubscriberKey(database: database, user: user) }

    /// Returns the types that the operations subscribe to, and those of the user's existing subscriptions.
    func watches(loaded: StoreLoaded) -> [WatchKey] {
        let types =
            operations.compactMap(\.subscription.query?.recordType)
            + (loaded.notifications.subscriptions[subscriber] ?? []).compactMap(\.recordType)
        return Set(types).sorted().map { WatchKey(database: database, recordType: $0) }
    }

    /// - Parameter schema: the schema that queries are checked against.
    func decide(loaded: StoreLoaded, schema: Schema) -> Decision {
        var decision = Decision()
        var rows = SubscriptionRows(
            loaded.notifications.subscriptions[subscriber] ?? [], watches: loaded.notifications.watches,
            random: random)
        for operation in operations {
            let subscriptionID = operation.subscription.subscriptionID
            do {
                switch operation.operationType {
                case .create, .update:
                    let (subscription, row) = try checked(operation, rows, loaded: loaded, schema: schema)
                    try rows.put(row, watchersMax: watchersMax)
                    decision.results.append(.subscription(subscription))
                case .delete:
                    guard rows.remove(subscriptionID) else { throw ServiceError.subscriptionNotFound }
                    // The subscription's pending pushes are removed with it.
                    decision.changes.removedPushes += (loaded.devices[user] ?? []).map {
                        PushKey(device: $0.key, database: database, subscriptionID: subscriptionID)
                    }
                    decision.results.append(
                        .subscription(WireSubscription(subscriptionID: subscriptionID, deleted: true)))
                }
            } catch {
                decision.results.append(
                    .error(ServiceFailure.wireError(error).ofSubscription(subscriptionID)))
            }
        }
        rows.finish(&decision.changes)
        // Only private databases have feeds.
        if database != .publicDatabase, rows.feedCountBefore != rows.feedCount {
            var feed =
                loaded.databases[database]
                ?? DatabaseRow(key: database, epoch: random.nextEpoch(), counter: 0)
            feed.subscriptionCount = Int64(rows.feedCount)
            decision.changes.databases = [feed]
        }
        return decision
    }

    /// In a private database the user's own limit suffices.
    private var watchersMax: Int { database == .publicDatabase ? limits.watchersMax : .max }

    /// Returns the subscription in its stored form. An existing subscription is replaced, so that a request can be
    /// repeated.
    private func checked(
        _ operation: SubscriptionOperation, _ rows: SubscriptionRows, loaded: StoreLoaded, schema: Schema
    ) throws -> (WireSubscription, SubscriptionRow) {
        let asked = operation.subscription
        try ModifyBatch.checkName(asked.subscriptionID, of: "subscriptionID", limits)
        let isThere = rows[asked.subscriptionID] != nil
        guard isThere || operation.operationType == .create else { throw ServiceError.subscriptionNotFound }
        guard isThere || rows.count < limits.subscriptionsMax else {
            throw ServiceError.tooManySubscriptions(limits.subscriptionsMax)
        }
        var subscription = WireSubscription(
            subscriptionID: asked.subscriptionID, subscriptionType: asked.subscriptionType,
            notificationInfo: asked.notificationInfo)
        switch asked.subscriptionType {
        case .database?:
            guard database != .publicDatabase else { throw ServiceError.notInPublic(.database) }
        case .zone?:
            guard database != .publicDatabase else { throw ServiceError.notInPublic(.zone) }
            let zoneID = asked.zoneID ?? ZoneID()
            let key = try caller.key(of: zoneID)
            guard !key.isDefault else {
                throw ServiceError.badRequest("the default zone has no changes feed to subscribe to")
            }
            subscription.zoneID = try existing(key, zoneID, loaded).zoneID
        case .query?:
            try fillQuery(&subscription, asked, loaded: loaded, schema: schema)
        default:
            throw ServiceError.badRequest("subscriptionType must be query, zone or database")
        }
        return (subscription, try row(subscription))
    }

    private func existing(_ key: ZoneKey, _ zoneID: ZoneID, _ loaded: StoreLoaded) throws -> ZoneKey {
        guard key.isDefault || loaded.zones[key].map({ !$0.isDeleted }) ?? false else {
            throw ServiceError.zoneNotFound(zoneID)
        }
        return key
    }

    /// Copies the members of a query subscription, or throws the error in them.
    private func fillQuery(
        _ subscription: inout WireSubscription, _ asked: WireSubscription, loaded: StoreLoaded, schema: Schema
    ) throws {
        guard let query = asked.query, let recordType = query.recordType else {
            throw ServiceError.badRequest("missing required field 'query.recordType'")
        }
        try ModifyBatch.checkName(recordType, of: "recordType", limits)
        let triggers = asked.firesOn ?? []
        guard !triggers.isEmpty, triggers.allSatisfy({ [.create, .update, .delete].contains($0) }) else {
            throw ServiceError.badRequest("firesOn must name one or more of create, update and delete")
        }
        _ = try QueryMatcher(
            query, schema: schema, database: database, userRecordName: user, limits: limits)
        subscription.query = query
        subscription.firesOn = triggers
        subscription.firesOnce = asked.firesOnce
        // As in records/query, a named zone takes precedence. Without one it is all zones, unless `zoneWide`
        // is false.
        if let zoneID = asked.zoneID {
            subscription.zoneID = try existing(try caller.key(of: zoneID), zoneID, loaded).zoneID
        } else if asked.zoneWide == false {
            subscription.zoneID = ZoneKey(database: database, zoneName: ZoneID.defaultZoneName).zoneID
        }
        subscription.zoneWide = subscription.zoneID == nil
    }

    private func row(_ subscription: WireSubscription) throws -> SubscriptionRow {
        let content = try subscription.json()
        guard content.count <= limits.subscriptionBytesMax else {
            throw ServiceError.badRequest(
                "the subscription has \(content.count) bytes; \(limits.subscriptionBytesMax) are allowed")
        }
        let key = SubscriptionKey(
            database: database, user: user, subscriptionID: subscription.subscriptionID)
        return SubscriptionRow(
            key: key, zoneName: subscription.zoneID?.zoneName, recordType: subscription.query?.recordType,
            content: content)
    }
}

/// A user's subscriptions in a database during a change, and the number of subscribers of each type.
struct SubscriptionRows {
    let feedCountBefore: Int
    private let before: [String: SubscriptionRow]
    private var rows: [String: SubscriptionRow]
    private var watches: [WatchKey: WatchRow]
    private var changedWatches = Set<WatchKey>()
    private let random: any RandomSource

    init(_ rows: [SubscriptionRow], watches: [WatchKey: WatchRow], random: any RandomSource) {
        before = Dictionary(rows.map { ($0.key.subscriptionID, $0) }) { $1 }
        self.rows = before
        self.watches = watches
        self.random = random
        feedCountBefore = rows.count { $0.recordType == nil }
    }

    var count: Int { rows.count }

    /// Number of zone and database subscriptions.
    var feedCount: Int { rows.values.count { $0.recordType == nil } }

    subscript(subscriptionID: String) -> SubscriptionRow? { rows[subscriptionID] }

    /// Adds or replaces a subscription.
    ///
    /// A subscription that still watches the same type keeps its number, and so its pending notifications.
    ///
    /// - Throws: `WireError` if the type has the maximum number of subscribers; then nothing has changed.
    mutating func put(_ row: SubscriptionRow, watchersMax: Int) throws(WireError) {
        var row = row
        let old = rows[row.key.subscriptionID]
        if let key = row.watch {
            var watch = watches[key] ?? WatchRow(key: key, version: 0)
            if old?.watch == key, let old {
                row.number = old.number
            } else {
                guard watch.count < Int64(watchersMax) else {
                    throw ServiceError.tooManyWatchers(key.recordType)
                }
                watch.count += 1
                watch.lastNumber += 1
                row.number = watch.lastNumber
            }
            watches[key] = watch
            changedWatches.insert(key)
        }
        if let key = old?.watch, key != row.watch { leave(key) }
        rows[row.key.subscriptionID] = row
    }

    /// Returns false if the subscription doesn't exist.
    mutating func remove(_ subscriptionID: String) -> Bool {
        guard let old = rows.removeValue(forKey: subscriptionID) else { return false }
        if let key = old.watch { leave(key) }
        return true
    }

    private mutating func leave(_ key: WatchKey) {
        watches[key]?.count -= 1
        changedWatches.insert(key)
    }

    /// Adds the changes to write.
    func finish(_ changes: inout StoreChanges) {
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) where before[id] != row {
            changes.subscriptions.append(row)
        }
        for (id, row) in before.sorted(by: { $0.key < $1.key }) where rows[id] == nil {
            changes.removedSubscriptions.append(row.key)
        }
        for key in changedWatches.sorted() {
            guard var watch = watches[key] else { continue }
            watch.version = random.next()
            changes.notifications.watches.append(watch)
        }
    }
}

extension SubscriptionRow {
    /// The type that a query subscription watches, or nil for other subscriptions.
    var watch: WatchKey? {
        recordType.map { WatchKey(database: key.database, recordType: $0) }
    }
}

extension ServiceError {
    static func notInPublic(_ kind: WireSubscription.Kind) -> WireError {
        badRequest("\(kind.rawValue) subscriptions are not supported in the public database")
    }

    static func tooManyWatchers(_ recordType: String) -> WireError {
        WireError(
            .quotaExceeded, reason: "too many subscriptions to records of type '\(recordType)'",
            ckErrorCode: 25)
    }
}

import CloudStore
import CloudWire
import System

/// Adds notifications to the collections of their users, and makes a push for each device. Pure.
struct NotificationCollector {
    /// A notification to be made for one subscription.
    struct NewNotification {
        let subscription: SubscriptionKey
        let kind: NotificationRow.Kind
        let info: WireNotificationInfo?
        let cause: PushCause
        var fields: [String: Field] = [:]
        /// The type of the record, or nil if the notification isn't about one record.
        var recordType: String?
        /// Devices that get no push, because they made the change.
        let makers: Set<DeviceKey>
        /// The device that made all the changes, or nil if there are several.
        let maker: DeviceKey?
    }

    let nowMilliseconds: Int64
    let random: any RandomSource
    let container: String?
    let limits: ServiceLimits
    private let devices: [String: [DeviceRow]]
    private var feeds: [String: NotificationFeedRow]
    private var pushes: [PushKey: PushRow]
    private var unread: [SubscriptionKey: NotificationRow]
    private var changedFeeds = Set<String>()
    private var changedPushes = Set<PushKey>()
    private var removed = Set<NotificationKey>()
    private var made: [NotificationKey: NotificationRow] = [:]
    private var webhooks: WebhookCollector
    private(set) var tokens = Set<String>()
    /// Number of pushes made.
    private(set) var pushesCount = 0

    /// - Parameter loaded: the users' devices, pushes, collection rows and unread notifications.
    init(
        loaded: StoreLoaded, webhooks: [WebhookRow], container: String?, limits: ServiceLimits,
        nowMilliseconds: Int64, random: any RandomSource
    ) {
        self.nowMilliseconds = nowMilliseconds
        self.random = random
        self.container = container
        self.limits = limits
        devices = loaded.devices
        feeds = loaded.notifications.feeds
        unread = loaded.notifications.unread
        pushes = Dictionary(loaded.pushes.values.joined().map { ($0.key, $0) }) { $1 }
        self.webhooks = WebhookCollector(webhooks, limits: limits, nowMilliseconds: nowMilliseconds)
    }

    mutating func add(_ new: NewNotification) throws {
        let user = new.subscription.user
        var feed = feeds[user] ?? NotificationFeedRow(user: user, epoch: random.nextEpoch())
        // One unread notification stands for all changes in a zone or a database.
        if new.kind == .feed, let before = unread[new.subscription] {
            remove(before.key)
            feed.count -= 1
            feed.unreadCount -= 1
        }
        feed.counter += 1
        feed.count += 1
        feed.unreadCount += 1
        feeds[user] = feed
        changedFeeds.insert(user)
        // Each has its own ID, so a late acknowledgement of the previous one doesn't delete it.
        let notificationID = random.nextUUID().lowercased()
        var payload = PushPayload(
            new.info, cause: new.cause, fields: new.fields, user: user, notificationID: notificationID,
            container: container, valuesBytesMax: limits.notificationValuesBytesMax)
        if new.info?.shouldBadge == true { payload.aps?.badge = feed.unreadCount }
        let row = NotificationRow(
            key: NotificationKey(user: user, number: feed.counter), notificationID: notificationID,
            kind: new.kind, subscription: new.subscription, atMilliseconds: nowMilliseconds,
            maker: new.maker.flatMap { $0.user == user ? $0.device : nil }, content: try payload.json())
        made[row.key] = row
        if new.kind == .feed { unread[new.subscription] = row }
        push(row, makers: new.makers)
        webhooks.add(row, recordType: new.recordType)
    }

    private mutating func remove(_ key: NotificationKey) {
        if made.removeValue(forKey: key) == nil { removed.insert(key) }
    }

    private mutating func push(_ row: NotificationRow, makers: Set<DeviceKey>) {
        for device in devices[row.key.user] ?? [] where !makers.contains(device.key) {
            let key = PushKey(
                device: device.key, database: row.subscription.database,
                subscriptionID: row.subscription.subscriptionID)
            pushes[key] = PushRow(
                key: key, notificationID: row.notificationID, atMilliseconds: nowMilliseconds,
                number: row.key.number, count: (pushes[key]?.count ?? 0) + 1)
            changedPushes.insert(key)
            tokens.insert(device.token)
            pushesCount += 1
        }
    }

    /// Adds the rows to write.
    func finish(_ changes: inout StoreChanges) {
        changes.pushes += changedPushes.sorted().compactMap { pushes[$0] }
        changes.notifications.removedNotifications += removed.sorted()
        changes.notifications.notifications += made.values.sorted { $0.key < $1.key }
        changes.notifications.feeds += changedFeeds.sorted().compactMap { feeds[$0] }
        webhooks.finish(&changes)
    }
}

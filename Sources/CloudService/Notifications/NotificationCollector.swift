import CloudStore
import CloudWire
import System

/// Puts what users are told into their collections, and makes pushes of it for their devices. Pure.
struct NotificationCollector {
    /// What one subscription tells.
    struct News {
        let subscription: SubscriptionKey
        let kind: NotificationRow.Kind
        let info: WireNotificationInfo?
        let cause: PushCause
        var fields: [String: Field] = [:]
        /// The type of the record; nil when it isn't of one record.
        var recordType: String?
        /// Devices that needn't be told.
        let makers: Set<DeviceKey>
        /// The one device that did all of it.
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
    /// How many pushes were made.
    private(set) var pushesCount = 0

    /// - Parameter loaded: the devices, their pushes, the collections' rows and the unread notifications of those who
    ///   are told.
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

    mutating func add(_ news: News) throws {
        let user = news.subscription.user
        var feed = feeds[user] ?? NotificationFeedRow(user: user, epoch: random.nextEpoch())
        // One unread notification stands for all changes in a zone or a database.
        if news.kind == .feed, let before = unread[news.subscription] {
            remove(before.key)
            feed.count -= 1
            feed.unreadCount -= 1
        }
        feed.counter += 1
        feed.count += 1
        feed.unreadCount += 1
        feeds[user] = feed
        changedFeeds.insert(user)
        // A name of its own for each: a late acknowledgement of the one before does not delete this one.
        let notificationID = random.nextUUID().lowercased()
        var payload = PushPayload(
            news.info, cause: news.cause, fields: news.fields, user: user, notificationID: notificationID,
            container: container, valuesBytesMax: limits.notificationValuesBytesMax)
        if news.info?.shouldBadge == true { payload.aps?.badge = feed.unreadCount }
        let row = NotificationRow(
            key: NotificationKey(user: user, number: feed.counter), notificationID: notificationID,
            kind: news.kind, subscription: news.subscription, atMilliseconds: nowMilliseconds,
            maker: news.maker.flatMap { $0.user == user ? $0.device : nil }, content: try payload.json())
        made[row.key] = row
        if news.kind == .feed { unread[news.subscription] = row }
        push(row, makers: news.makers)
        webhooks.add(row, recordType: news.recordType)
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

    /// Adds what is to be written.
    func finish(_ changes: inout StoreChanges) {
        changes.pushes += changedPushes.sorted().compactMap { pushes[$0] }
        changes.notifications.removedNotifications += removed.sorted()
        changes.notifications.notifications += made.values.sorted { $0.key < $1.key }
        changes.notifications.feeds += changedFeeds.sorted().compactMap { feeds[$0] }
        webhooks.finish(&changes)
    }
}

/// What a decision about notifications needs to know.
public struct NotificationLoad: Sendable {
    /// Types of which it is wanted how many subscriptions watch them.
    public var watches: [WatchKey] = []
    /// Types of which the query subscriptions that watch them are wanted.
    public var watchersOf: [WatchKey] = []
    /// Users whose subscriptions in a database are wanted.
    public var subscriptionsOf: [SubscriberKey] = []
    /// Users whose collection's row is wanted.
    public var feedsOf: [String] = []
    /// Notifications wanted by their names.
    public var notifications: [NotificationName] = []
    /// Subscriptions of which the unread notifications are wanted that stand for all changes.
    public var unreadOf: [SubscriptionKey] = []

    /// Makes a question that asks for nothing.
    public init() {}
}

/// What was there. An absent key means that the store has no such row.
public struct NotificationsLoaded: Sendable {
    /// How many subscriptions watch a type.
    public var watches: [WatchKey: WatchRow] = [:]
    /// The query subscriptions that watch a type, in the order of their numbers.
    public var watchers: [WatchKey: [SubscriptionRow]] = [:]
    /// A user's subscriptions, sorted by their names.
    public var subscriptions: [SubscriberKey: [SubscriptionRow]] = [:]
    /// Users' collections.
    public var feeds: [String: NotificationFeedRow] = [:]
    /// Notifications by their names.
    public var notifications: [NotificationName: NotificationRow] = [:]
    /// The unread notification that stands for all changes that a subscription watches.
    public var unread: [SubscriptionKey: NotificationRow] = [:]

    /// Makes an empty answer.
    public init() {}

    /// Takes in what a later question found.
    mutating func merge(_ other: NotificationsLoaded) {
        watches.merge(other.watches) { $1 }
        watchers.merge(other.watchers) { $1 }
        subscriptions.merge(other.subscriptions) { $1 }
        feeds.merge(other.feeds) { $1 }
        notifications.merge(other.notifications) { $1 }
        unread.merge(other.unread) { $1 }
    }
}

/// What a decision wants written of notifications, applied in the order of the properties.
public struct NotificationChanges: Sendable {
    /// How many subscriptions watch a type from now on.
    public var watches: [WatchRow] = []
    /// Changes that everybody was told of.
    public var removedFiredChanges: [Int64] = []
    /// Changes to tell of.
    public var firedChanges: [FiredChangeRow] = []
    /// Notifications that go, or move.
    public var removedNotifications: [NotificationKey] = []
    /// Notifications to write. No two of a user may have one name.
    public var notifications: [NotificationRow] = []
    /// Collections' rows to write.
    public var feeds: [NotificationFeedRow] = []
    /// Webhooks that go, with what waits to be sent to them.
    public var removedWebhooks: [String] = []
    /// Webhooks to write.
    public var webhooks: [WebhookRow] = []
    /// What needn't be sent to a webhook any more.
    public var removedDeliveries: [Int64] = []
    /// What is to be sent to webhooks.
    public var deliveries: [WebhookDeliveryRow] = []

    /// Makes changes that change nothing.
    public init() {}

    /// True when there is nothing to write.
    var isEmpty: Bool {
        watches.isEmpty && removedFiredChanges.isEmpty && firedChanges.isEmpty
            && removedNotifications.isEmpty && notifications.isEmpty && feeds.isEmpty
            && removedWebhooks.isEmpty && webhooks.isEmpty && removedDeliveries.isEmpty && deliveries.isEmpty
    }
}

/// Reads rows of notifications in the order of their tables.
public protocol NotificationStoreReader {
    /// The oldest changes of which nobody was told yet, `changesMax` at most.
    func firedChanges(changesMax: Int) throws -> ChangesPage<FiredChangeRow>

    /// How many changes wait to be told of; never too few.
    func firedChangesCount() throws -> Int64

    /// The notifications of `user` behind the number `after`, the oldest first, `notificationsMax` at most.
    func notifications(
        of user: String, after: Int64, notificationsMax: Int
    ) throws -> ChangesPage<NotificationRow>

    /// The notifications of all users from before a time, in milliseconds since 1970, the oldest first.
    func notifications(before milliseconds: Int64, notificationsMax: Int) throws -> [NotificationRow]

    /// All webhooks, sorted by their names.
    func webhooks() throws -> [WebhookRow]

    /// What is due to be sent to a webhook at a time, in milliseconds since 1970: the longest due first.
    func dueDeliveries(
        of webhook: String, atMilliseconds: Int64, deliveriesMax: Int
    ) throws -> [WebhookDeliveryRow]

    /// The oldest of what waits to be sent, as far as it was made before a time, in milliseconds since 1970.
    func deliveries(madeBefore milliseconds: Int64, deliveriesMax: Int) throws -> [WebhookDeliveryRow]

    /// What waits to be sent to a webhook and has one of these numbers.
    func deliveries(numbers: [Int64]) throws -> [WebhookDeliveryRow]

    /// When the next is due to be sent to a webhook, in milliseconds since 1970; nil when nothing waits.
    func nextDeliveryMilliseconds(of webhook: String) throws -> Int64?
}

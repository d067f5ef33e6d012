/// The rows about notifications that a decision needs.
package struct NotificationLoad: Sendable {
    /// Types to count subscriptions of.
    package var watches: [WatchKey] = []
    /// Types to load query subscriptions of.
    package var watchersOf: [WatchKey] = []
    /// Users and databases to load subscriptions of.
    package var subscriptionsOf: [SubscriberKey] = []
    /// Users to load collections of.
    package var feedsOf: [String] = []
    /// Notifications to load by name.
    package var notifications: [NotificationName] = []
    /// Subscriptions to load the unread notification of, which represents all changes.
    package var unreadOf: [SubscriptionKey] = []

    /// Makes an empty request.
    package init() {}
}

/// The loaded rows. An absent key means that the store has no such row.
package struct NotificationsLoaded: Sendable {
    /// Number of subscriptions of a type.
    package var watches: [WatchKey: WatchRow] = [:]
    /// Query subscriptions of a type, sorted by number.
    package var watchers: [WatchKey: [SubscriptionRow]] = [:]
    /// Subscriptions of a user, sorted by name.
    package var subscriptions: [SubscriberKey: [SubscriptionRow]] = [:]
    /// Collections of users.
    package var feeds: [String: NotificationFeedRow] = [:]
    /// Notifications by name.
    package var notifications: [NotificationName: NotificationRow] = [:]
    /// The unread notification that represents all changes of a subscription.
    package var unread: [SubscriptionKey: NotificationRow] = [:]

    /// Makes an empty result.
    package init() {}

    /// Adds the result of a later request.
    mutating func merge(_ other: NotificationsLoaded) {
        watches.merge(other.watches) { $1 }
        watchers.merge(other.watchers) { $1 }
        subscriptions.merge(other.subscriptions) { $1 }
        feeds.merge(other.feeds) { $1 }
        notifications.merge(other.notifications) { $1 }
        unread.merge(other.unread) { $1 }
    }
}

/// The writes of a decision about notifications, applied in the order of the properties.
package struct NotificationChanges: Sendable {
    /// Numbers of subscriptions of types to write.
    package var watches: [WatchRow] = []
    /// Changes to delete: all their subscriptions are notified.
    package var removedFiredChanges: [Int64] = []
    /// Changes to write: their subscriptions are notified later.
    package var firedChanges: [FiredChangeRow] = []
    /// Notifications to delete or to move.
    package var removedNotifications: [NotificationKey] = []
    /// Notifications to write. Two notifications of a user can't have the same name.
    package var notifications: [NotificationRow] = []
    /// Collections to write.
    package var feeds: [NotificationFeedRow] = []
    /// Webhooks to delete, with their pending deliveries.
    package var removedWebhooks: [String] = []
    /// Webhooks to write.
    package var webhooks: [WebhookRow] = []
    /// Deliveries to delete.
    package var removedDeliveries: [Int64] = []
    /// Deliveries to write.
    package var deliveries: [WebhookDeliveryRow] = []

    /// Makes an empty set of changes.
    package init() {}

    /// True if there is nothing to write.
    var isEmpty: Bool {
        watches.isEmpty && removedFiredChanges.isEmpty && firedChanges.isEmpty
            && removedNotifications.isEmpty && notifications.isEmpty && feeds.isEmpty
            && removedWebhooks.isEmpty && webhooks.isEmpty && removedDeliveries.isEmpty && deliveries.isEmpty
    }
}

/// Reads the tables of notifications in their order.
package protocol NotificationStoreReader {
    /// Returns the oldest changes with pending notifications. Maximum `changesMax` changes.
    func firedChanges(changesMax: Int) throws -> ChangesPage<FiredChangeRow>

    /// Returns the number of changes with pending notifications. It may be too high, never too low.
    func firedChangesCount() throws -> Int64

    /// Returns the notifications of `user` that follow the number `after`, oldest first. Maximum `notificationsMax`.
    func notifications(
        of user: String, after: Int64, notificationsMax: Int
    ) throws -> ChangesPage<NotificationRow>

    /// Returns the notifications of all users from before a time, in milliseconds since 1970, oldest first.
    func notifications(before milliseconds: Int64, notificationsMax: Int) throws -> [NotificationRow]

    /// Returns all webhooks, sorted by name.
    func webhooks() throws -> [WebhookRow]

    /// Returns the deliveries that are due at a time, in milliseconds since 1970, oldest due time first.
    func dueDeliveries(
        of webhook: String, atMilliseconds: Int64, deliveriesMax: Int
    ) throws -> [WebhookDeliveryRow]

    /// Returns the oldest pending deliveries from before a time, in milliseconds since 1970.
    func deliveries(madeBefore milliseconds: Int64, deliveriesMax: Int) throws -> [WebhookDeliveryRow]

    /// Returns the pending deliveries of a webhook with these numbers.
    func deliveries(numbers: [Int64]) throws -> [WebhookDeliveryRow]

    /// Returns the next due time of a delivery to a webhook, in milliseconds since 1970, or nil if none is pending.
    func nextDeliveryMilliseconds(of webhook: String) throws -> Int64?
}

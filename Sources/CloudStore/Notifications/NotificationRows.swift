/// The key of a notification: its position in the user's collection.
package struct NotificationKey: Hashable, Comparable, Sendable {
    /// Record name of the user.
    package let user: String
    /// Its number. A notification that changes moves to the end of the collection.
    package let number: Int64

    /// Makes a key.
    package init(user: String, number: Int64) {
        self.user = user
        self.number = number
    }

    /// Sorts by user and number, as the keys on disk are sorted.
    package static func < (left: NotificationKey, right: NotificationKey) -> Bool {
        (left.user, left.number) < (right.user, right.number)
    }
}

/// The permanent name of a notification.
package struct NotificationName: Hashable, Comparable, Sendable {
    /// Record name of the user.
    package let user: String
    /// Name of the notification.
    package let notificationID: String

    /// Makes a name.
    package init(user: String, notificationID: String) {
        self.user = user
        self.notificationID = notificationID
    }

    /// Sorts by user and name.
    package static func < (left: NotificationName, right: NotificationName) -> Bool {
        (left.user, left.notificationID) < (right.user, right.notificationID)
    }
}

/// A notification in the user's collection.
package struct NotificationRow: Hashable, Sendable {
    /// Kind of the subscription. The raw value is stored on disk.
    package enum Kind: Int64, Hashable, Sendable {
        /// A query subscription: a change of one record.
        case query = 1
        /// A zone or database subscription: one unread notification represents all changes.
        case feed = 2
    }

    /// Position in the collection.
    package var key: NotificationKey
    /// Name of the notification.
    package var notificationID: String
    /// Kind of the subscription.
    package var kind: Kind
    /// The subscription, which may have been deleted since.
    package var subscription: SubscriptionKey
    /// Time, in milliseconds since 1970.
    package var atMilliseconds: Int64
    /// True if one of the user's devices has marked it as read.
    package var isRead: Bool
    /// The user's device that made the change, which isn't notified. Nil if another user's device or several devices
    /// made it.
    package var maker: String?
    /// The notification in the service's encoding. The store doesn't read it.
    package var content: [UInt8]

    /// Makes a row.
    package init(
        key: NotificationKey, notificationID: String, kind: Kind, subscription: SubscriptionKey,
        atMilliseconds: Int64, isRead: Bool = false, maker: String? = nil, content: [UInt8]
    ) {
        self.key = key
        self.notificationID = notificationID
        self.kind = kind
        self.subscription = subscription
        self.atMilliseconds = atMilliseconds
        self.isRead = isRead
        self.maker = maker
        self.content = content
    }

    /// User and name.
    package var name: NotificationName {
        NotificationName(user: key.user, notificationID: notificationID)
    }
}

/// The feed of a user's notifications.
package struct NotificationFeedRow: Hashable, Sendable {
    /// Record name of the user.
    package let user: String
    /// 64 random bits. A token with other bits comes from an earlier collection of the same user.
    package var epoch: UInt64
    /// Number of the newest notification.
    package var counter: Int64
    /// Some notifications up to this number were discarded.
    package var floor: Int64
    /// Number of notifications.
    package var count: Int64
    /// Number of unread notifications.
    package var unreadCount: Int64

    /// Makes a row.
    package init(
        user: String, epoch: UInt64, counter: Int64 = 0, floor: Int64 = 0, count: Int64 = 0,
        unreadCount: Int64 = 0
    ) {
        self.user = user
        self.epoch = epoch
        self.counter = counter
        self.floor = floor
        self.count = count
        self.unreadCount = unreadCount
    }
}

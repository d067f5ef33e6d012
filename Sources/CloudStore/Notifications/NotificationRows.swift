/// Names a notification by its place in its user's collection.
public struct NotificationKey: Hashable, Comparable, Sendable {
    /// The record name of the user.
    public let user: String
    /// Its number: a notification that changes moves to the end of the collection.
    public let number: Int64

    /// Makes a key.
    public init(user: String, number: Int64) {
        self.user = user
        self.number = number
    }

    /// Orders by user, then number, as the keys on disk are ordered.
    public static func < (left: NotificationKey, right: NotificationKey) -> Bool {
        (left.user, left.number) < (right.user, right.number)
    }
}

/// Names a notification of a user for good.
public struct NotificationName: Hashable, Comparable, Sendable {
    /// The record name of the user.
    public let user: String
    /// The notification's own name.
    public let notificationID: String

    /// Makes a name.
    public init(user: String, notificationID: String) {
        self.user = user
        self.notificationID = notificationID
    }

    /// Orders by user, then name.
    public static func < (left: NotificationName, right: NotificationName) -> Bool {
        (left.user, left.notificationID) < (right.user, right.notificationID)
    }
}

/// What a user was told, in the collection that keeps all of it.
public struct NotificationRow: Hashable, Sendable {
    /// Which kind of subscription fired. The raw value is what stands on disk.
    public enum Kind: Int64, Hashable, Sendable {
        /// A query subscription: a change of one record.
        case query = 1
        /// A zone or a database subscription: one unread notification stands for all changes.
        case feed = 2
    }

    /// Its place.
    public var key: NotificationKey
    /// Its name.
    public var notificationID: String
    /// Which kind of subscription fired.
    public var kind: Kind
    /// The subscription that fired; it may be gone.
    public var subscription: SubscriptionKey
    /// When, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// Whether one of the user's devices has marked it as read.
    public var isRead: Bool
    /// The user's device that caused it and needn't be told; nil when it was another's, or several.
    public var maker: String?
    /// The notification as the service keeps it; the store doesn't look inside.
    public var content: [UInt8]

    /// Makes a row.
    public init(
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

    /// Its name, with its user's.
    public var name: NotificationName {
        NotificationName(user: key.user, notificationID: notificationID)
    }
}

/// The collection of a user's notifications as a feed.
public struct NotificationFeedRow: Hashable, Sendable {
    /// The record name of the user.
    public let user: String
    /// 64 random bits; a token with others comes from another life of the collection.
    public var epoch: UInt64
    /// The number of the newest.
    public var counter: Int64
    /// Of those up to this number some were discarded.
    public var floor: Int64
    /// How many there are.
    public var count: Int64
    /// How many of them are unread.
    public var unreadCount: Int64

    /// Makes a row.
    public init(
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

/// The key of a subscription: its user, its database and its name.
public struct SubscriptionKey: Hashable, Comparable, Sendable {
    /// The watched database.
    public let database: StoredDatabaseKey
    /// Record name of the subscribed user.
    public let user: String
    /// Name of the subscription, unique for its user in its database.
    public let subscriptionID: String

    /// Makes the key of a subscription.
    public init(database: StoredDatabaseKey, user: String, subscriptionID: String) {
        self.database = database
        self.user = user
        self.subscriptionID = subscriptionID
    }

    /// Sorts by database, user and name, as the keys on disk are sorted.
    public static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
        (left.database, left.user, left.subscriptionID) < (right.database, right.user, right.subscriptionID)
    }
}

/// A user's subscription to changes.
public struct SubscriptionRow: Hashable, Sendable {
    /// User, database and name.
    public let key: SubscriptionKey
    /// The watched zone, or nil for the whole database.
    public var zoneName: String?
    /// Record type of a query subscription, or nil for other subscriptions.
    public var recordType: String?
    /// Number of a query subscription among those of its type. 0 for other subscriptions.
    public var number: Int64
    /// The subscription in the service's encoding. The store doesn't read it.
    public var content: [UInt8]

    /// Makes a row.
    public init(
        key: SubscriptionKey, zoneName: String? = nil, recordType: String? = nil, number: Int64 = 0,
        content: [UInt8]
    ) {
        self.key = key
        self.zoneName = zoneName
        self.recordType = recordType
        self.number = number
        self.content = content
    }
}

/// The key of a device: its user and its name.
public struct DeviceKey: Hashable, Comparable, Sendable {
    /// Record name of the user.
    public let user: String
    /// Name of the device, unique for its user.
    public let device: String

    /// Makes the key of a device.
    public init(user: String, device: String) {
        self.user = user
        self.device = device
    }

    /// Sorts by user and device.
    public static func < (left: DeviceKey, right: DeviceKey) -> Bool {
        (left.user, left.device) < (right.user, right.device)
    }
}

/// A device that receives pushes.
public struct DeviceRow: Hashable, Sendable {
    /// User and name.
    public let key: DeviceKey
    /// Secret token with which the device fetches its pushes. Unique.
    public var token: String
    /// Push service that the device named.
    public var environment: String
    /// Time of the device's last request, in milliseconds since 1970.
    public var seenMilliseconds: Int64

    /// Makes a row.
    public init(key: DeviceKey, token: String, environment: String, seenMilliseconds: Int64) {
        self.key = key
        self.token = token
        self.environment = environment
        self.seenMilliseconds = seenMilliseconds
    }
}

/// A changed zone with pending notifications.
public struct PushTaskRow: Hashable, Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// Device that made all the changes, which isn't notified. Nil if several devices made them, or one without a name.
    public var maker: DeviceKey?

    /// Makes a row.
    public init(zone: ZoneKey, maker: DeviceKey?) {
        self.zone = zone
        self.maker = maker
    }
}

/// The key of a push: a device and a subscription.
public struct PushKey: Hashable, Comparable, Sendable {
    /// The device that is notified.
    public let device: DeviceKey
    /// The changed database.
    public let database: StoredDatabaseKey
    /// Name of the subscription of the device's user.
    public let subscriptionID: String

    /// Makes the key of a push.
    public init(device: DeviceKey, database: StoredDatabaseKey, subscriptionID: String) {
        self.device = device
        self.database = database
        self.subscriptionID = subscriptionID
    }

    /// Key of the subscription.
    public var subscription: SubscriptionKey {
        SubscriptionKey(database: database, user: device.user, subscriptionID: subscriptionID)
    }

    /// Sorts by device, database and subscription, as the keys on disk are sorted.
    public static func < (left: PushKey, right: PushKey) -> Bool {
        (left.device, left.database, left.subscriptionID) < (
            right.device, right.database, right.subscriptionID
        )
    }
}

/// A pending push, until its device takes it.
public struct PushRow: Hashable, Sendable {
    /// Device and subscription.
    public let key: PushKey
    /// Name of this push. A later push with the same key has another name.
    public var notificationID: String
    /// Creation time, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// Number of the notification in the user's collection, or 0 if it isn't in it.
    public var number: Int64
    /// Number of notifications that the push stands for.
    public var count: Int64
    /// Content of the push, or nil to use the notification in the collection.
    public var content: [UInt8]?

    /// Makes a row.
    public init(
        key: PushKey, notificationID: String, atMilliseconds: Int64, number: Int64 = 0, count: Int64 = 1,
        content: [UInt8]? = nil
    ) {
        self.key = key
        self.notificationID = notificationID
        self.atMilliseconds = atMilliseconds
        self.number = number
        self.count = count
        self.content = content
    }
}

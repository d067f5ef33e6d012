/// Names a user's subscription in a database.
public struct SubscriptionKey: Hashable, Comparable, Sendable {
    /// The database that is watched.
    public let database: StoredDatabaseKey
    /// The record name of the user who watches.
    public let user: String
    /// The subscription's own name, unique for its user in its database.
    public let subscriptionID: String

    /// Makes the key of a subscription.
    public init(database: StoredDatabaseKey, user: String, subscriptionID: String) {
        self.database = database
        self.user = user
        self.subscriptionID = subscriptionID
    }

    /// Orders by database, user, name, as the keys on disk are ordered.
    public static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
        (left.database, left.user, left.subscriptionID) < (right.database, right.user, right.subscriptionID)
    }
}

/// A user's wish to be told of changes.
public struct SubscriptionRow: Hashable, Sendable {
    /// Whose, and where.
    public let key: SubscriptionKey
    /// The one zone that is watched; nil for the whole database.
    public var zoneName: String?
    /// The type of the records that a query subscription watches; nil for the others.
    public var recordType: String?
    /// A query subscription's number among those that watch its type; 0 for the others.
    public var number: Int64
    /// The subscription as the service keeps it; the store doesn't look inside.
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

/// Names a device of a user.
public struct DeviceKey: Hashable, Comparable, Sendable {
    /// The record name of the user.
    public let user: String
    /// The device's own name, unique for its user.
    public let device: String

    /// Makes the key of a device.
    public init(user: String, device: String) {
        self.user = user
        self.device = device
    }

    /// Orders by user, then device.
    public static func < (left: DeviceKey, right: DeviceKey) -> Bool {
        (left.user, left.device) < (right.user, right.device)
    }
}

/// A device that may be told of changes.
public struct DeviceRow: Hashable, Sendable {
    /// Whose, and which.
    public let key: DeviceKey
    /// By which the device fetches what it is told; unique, and a secret of the device's.
    public var token: String
    /// Which of the push services the device named.
    public var environment: String
    /// When the device was last heard of, in milliseconds since 1970.
    public var seenMilliseconds: Int64

    /// Makes a row.
    public init(key: DeviceKey, token: String, environment: String, seenMilliseconds: Int64) {
        self.key = key
        self.token = token
        self.environment = environment
        self.seenMilliseconds = seenMilliseconds
    }
}

/// A zone whose change nobody has been told of yet.
public struct PushTaskRow: Hashable, Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// The one device that made all the changes, which needn't be told; nil when several did, or one without name.
    public var maker: DeviceKey?

    /// Makes a row.
    public init(zone: ZoneKey, maker: DeviceKey?) {
        self.zone = zone
        self.maker = maker
    }
}

/// Names what a device is to be told because of a subscription.
public struct PushKey: Hashable, Comparable, Sendable {
    /// Who is to be told.
    public let device: DeviceKey
    /// The database that changed.
    public let database: StoredDatabaseKey
    /// The subscription of the device's user.
    public let subscriptionID: String

    /// Makes the key of a push.
    public init(device: DeviceKey, database: StoredDatabaseKey, subscriptionID: String) {
        self.device = device
        self.database = database
        self.subscriptionID = subscriptionID
    }

    /// The subscription.
    public var subscription: SubscriptionKey {
        SubscriptionKey(database: database, user: device.user, subscriptionID: subscriptionID)
    }

    /// Orders by device, database, subscription, as the keys on disk are ordered.
    public static func < (left: PushKey, right: PushKey) -> Bool {
        (left.device, left.database, left.subscriptionID) < (
            right.device, right.database, right.subscriptionID
        )
    }
}

/// A push that waits until its device takes it.
public struct PushRow: Hashable, Sendable {
    /// Who is told, and why.
    public let key: PushKey
    /// The name of this push: a later one in its place has another.
    public var notificationID: String
    /// When it was made, in milliseconds since 1970.
    public var atMilliseconds: Int64
    /// The notification's number in the user's collection; 0 when it is not there.
    public var number: Int64
    /// How many notifications it stands for.
    public var count: Int64
    /// What is told; nil: what stands in the collection.
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

/// The key of a subscription: its user, its database and its name.
package struct SubscriptionKey: Hashable, Comparable, Sendable {
    /// The watched database.
    package let database: StoredDatabaseKey
    /// Record name of the subscribed user.
    package let user: String
    /// Name of the subscription, unique for its user in its database.
    package let subscriptionID: String

    /// Makes the key of a subscription.
    package init(database: StoredDatabaseKey, user: String, subscriptionID: String) {
        self.database = database
        self.user = user
        self.subscriptionID = subscriptionID
    }

    /// Sorts by database, user and name, as the keys on disk are sorted.
    package static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
        (left.database, left.user, left.subscriptionID) < (right.database, right.user, right.subscriptionID)
    }
}

/// A user's subscription to changes.
package struct SubscriptionRow: Hashable, Sendable {
    /// User, database and name.
    package let key: SubscriptionKey
    /// The watched zone, or nil for the whole database.
    package var zoneName: String?
    /// Record type of a query subscription, or nil for other subscriptions.
    package var recordType: String?
    /// Number of a query subscription among those of its type. 0 for other subscriptions.
    package var number: Int64
    /// The subscription in the service's encoding. The store doesn't read it.
    package var content: [UInt8]

    /// Makes a row.
    package init(
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
package struct DeviceKey: Hashable, Comparable, Sendable {
    /// Record name of the user.
    package let user: String
    /// Name of the device, unique for its user.
    package let device: String

    /// Makes the key of a device.
    package init(user: String, device: String) {
        self.user = user
        self.device = device
    }

    /// Sorts by user and device.
    package static func < (left: DeviceKey, right: DeviceKey) -> Bool {
        (left.user, left.device) < (right.user, right.device)
    }
}

/// A device that receives pushes.
package struct DeviceRow: Hashable, Sendable {
    /// User and name.
    package let key: DeviceKey
    /// Secret token with which the device fetches its pushes. Unique.
    package var token: String
    /// Push service that the device named.
    package var environment: String
    /// Time of the device's last request, in milliseconds since 1970.
    package var seenMilliseconds: Int64

    /// Makes a row.
    package init(key: DeviceKey, token: String, environment: String, seenMilliseconds: Int64) {
        self.key = key
        self.token = token
        self.environment = environment
        self.seenMilliseconds = seenMilliseconds
    }
}

/// A changed zone with pending notifications.
package struct PushTaskRow: Hashable, Sendable {
    /// The zone.
    package let zone: ZoneKey
    /// Device that made all the changes, which isn't notified. Nil if several devices made them, or one without a name.
    package var maker: DeviceKey?

    /// Makes a row.
    package init(zone: ZoneKey, maker: DeviceKey?) {
        self.zone = zone
        self.maker = maker
    }
}

/// The key of a push: a device and a subscription.
package struct PushKey: Hashable, Comparable, Sendable {
    /// The device that is notified.
    package let device: DeviceKey
    /// The changed database.
    package let database: StoredDatabaseKey
    /// Name of the subscription of the device's user.
    package let subscriptionID: String

    /// Makes the key of a push.
    package init(device: DeviceKey, database: StoredDatabaseKey, subscriptionID: String) {
        self.device = device
        self.database = database
        self.subscriptionID = subscriptionID
    }

    /// Key of the subscription.
    package var subscription: SubscriptionKey {
        SubscriptionKey(database: database, user: device.user, subscriptionID: subscriptionID)
    }

    /// Sorts by device, database and subscription, as the keys on disk are sorted.
    package static func < (left: PushKey, right: PushKey) -> Bool {
        (left.device, left.database, left.subscriptionID) < (
            right.device, right.database, right.subscriptionID
        )
    }
}

/// A pending push, until its device takes it.
package struct PushRow: Hashable, Sendable {
    /// Device and subscription.
    package let key: PushKey
    /// Name of this push. A later push with the same key has another name.
    package var notificationID: String
    /// Creation time, in milliseconds since 1970.
    package var atMilliseconds: Int64
    /// Number of the notification in the user's collection, or 0 if it isn't in it.
    package var number: Int64
    /// Number of notifications that the push represents.
    package var count: Int64
    /// Content of the push, or nil to use the notification in the collection.
    package var content: [UInt8]?

    /// Makes a row.
    package init(
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

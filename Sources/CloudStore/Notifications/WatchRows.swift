/// The key of what query subscriptions watch: the records of a type in a database.
package struct WatchKey: Hashable, Comparable, Sendable {
    /// The database.
    package let database: StoredDatabaseKey
    /// The type of the records.
    package let recordType: String

    /// Makes a key.
    package init(database: StoredDatabaseKey, recordType: String) {
        self.database = database
        self.recordType = recordType
    }

    /// Sorts by database and type, as the keys on disk are sorted.
    package static func < (left: WatchKey, right: WatchKey) -> Bool {
        (left.database, left.recordType) < (right.database, right.recordType)
    }
}

/// The number of query subscriptions of a type. At 0, a write of its records needn't look for subscriptions.
package struct WatchRow: Hashable, Sendable {
    /// Database and type.
    package let key: WatchKey
    /// 64 random bits, new whenever one of the subscriptions changes. A cache of the subscriptions is valid while it
    /// stays.
    package var version: UInt64
    /// Number of subscriptions.
    package var count: Int64
    /// Number of the newest subscription. Numbers are never reused.
    package var lastNumber: Int64

    /// Makes a row.
    package init(key: WatchKey, version: UInt64, count: Int64 = 0, lastNumber: Int64 = 0) {
        self.key = key
        self.version = version
        self.count = count
        self.lastNumber = lastNumber
    }
}

/// The key of a user's subscriptions in a database.
package struct SubscriberKey: Hashable, Comparable, Sendable {
    /// The database.
    package let database: StoredDatabaseKey
    /// Record name of the user.
    package let user: String

    /// Makes a key.
    package init(database: StoredDatabaseKey, user: String) {
        self.database = database
        self.user = user
    }

    /// Sorts by database and user.
    package static func < (left: SubscriberKey, right: SubscriberKey) -> Bool {
        (left.database, left.user) < (right.database, right.user)
    }
}

/// A change of a record with pending notifications of query subscriptions. It is written with the change.
package struct FiredChangeRow: Hashable, Sendable {
    /// Number in the order of the changes. With 0, the store assigns the next number.
    package var number: Int64
    /// The record.
    package let record: RecordKey
    /// Its type.
    package let recordType: String
    /// 1 created, 2 changed, 3 deleted.
    package let reason: Int64
    /// Device that made the change, which isn't notified.
    package let maker: DeviceKey?
    /// Time, in milliseconds since 1970.
    package let atMilliseconds: Int64
    /// Fields for the notification, in their binary form. The store doesn't read them.
    package let fields: [UInt8]
    /// Users and subscriptions to notify, in the service's encoding. The store doesn't read it.
    package var watchers: [UInt8]

    /// Makes a row.
    package init(
        number: Int64 = 0, record: RecordKey, recordType: String, reason: Int64, maker: DeviceKey?,
        atMilliseconds: Int64, fields: [UInt8], watchers: [UInt8]
    ) {
        self.number = number
        self.record = record
        self.recordType = recordType
        self.reason = reason
        self.maker = maker
        self.atMilliseconds = atMilliseconds
        self.fields = fields
        self.watchers = watchers
    }
}

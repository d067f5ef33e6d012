/// Names what query subscriptions watch: the records of a type in a database.
public struct WatchKey: Hashable, Comparable, Sendable {
    /// The database.
    public let database: StoredDatabaseKey
    /// The type of the records.
    public let recordType: String

    /// Makes a key.
    public init(database: StoredDatabaseKey, recordType: String) {
        self.database = database
        self.recordType = recordType
    }

    /// Orders by database, then type, as the keys on disk are ordered.
    public static func < (left: WatchKey, right: WatchKey) -> Bool {
        (left.database, left.recordType) < (right.database, right.recordType)
    }
}

/// How many query subscriptions watch a type, so that a write of records that nobody watches needn't ask further.
public struct WatchRow: Hashable, Sendable {
    /// What is watched.
    public let key: WatchKey
    /// 64 random bits, new whenever one of the subscriptions is: what was read of them once holds while this stays.
    public var version: UInt64
    /// How many subscriptions.
    public var count: Int64
    /// The number of the newest subscription; none is given twice.
    public var lastNumber: Int64

    /// Makes a row.
    public init(key: WatchKey, version: UInt64, count: Int64 = 0, lastNumber: Int64 = 0) {
        self.key = key
        self.version = version
        self.count = count
        self.lastNumber = lastNumber
    }
}

/// Names a user's subscriptions in a database.
public struct SubscriberKey: Hashable, Comparable, Sendable {
    /// The database.
    public let database: StoredDatabaseKey
    /// The record name of the user.
    public let user: String

    /// Makes a key.
    public init(database: StoredDatabaseKey, user: String) {
        self.database = database
        self.user = user
    }

    /// Orders by database, then user.
    public static func < (left: SubscriberKey, right: SubscriberKey) -> Bool {
        (left.database, left.user) < (right.database, right.user)
    }
}

/// A change of a record that query subscriptions are to be told of, written with the change.
public struct FiredChangeRow: Hashable, Sendable {
    /// In the order of the changes. 0: the store gives it the next number.
    public var number: Int64
    /// The record.
    public let record: RecordKey
    /// Its type.
    public let recordType: String
    /// 1 made, 2 changed, 3 deleted.
    public let reason: Int64
    /// The device that did it, which needn't be told.
    public let maker: DeviceKey?
    /// When, in milliseconds since 1970.
    public let atMilliseconds: Int64
    /// The fields that are told, in their binary form; the store doesn't look inside.
    public let fields: [UInt8]
    /// Whose subscriptions fired, as the service keeps it; the store doesn't look inside.
    public var watchers: [UInt8]

    /// Makes a row.
    public init(
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

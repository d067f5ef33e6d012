/// The rows that a decision needs, loaded together: one round trip to a distant store.
public struct StoreLoad: Sendable {
    /// Databases to load feed rows of.
    public var databases: [StoredDatabaseKey] = []
    /// Zones to load.
    public var zones: [ZoneKey] = []
    /// Records to load, including tombstones.
    public var records: [RecordKey] = []
    /// Records to load without their fields, to know whether they exist. The fields are empty in the result.
    public var outlines: [RecordKey] = []
    /// Records to load binding references to.
    public var dependantsOf: [RecordKey] = []
    /// Records to count the DELETE_SELF references to.
    public var deleteSelfCountsOf: [RecordKey] = []
    /// Maximum count for each record.
    public var deleteSelfCountMax = 0
    /// Maximum count for all these records together. Then the result is cut short.
    public var deleteSelfCountsMax = Int.max
    /// Databases to load subscriptions of.
    public var subscriptionsIn: [StoredDatabaseKey] = []
    /// Users to load devices of.
    public var devicesOf: [String] = []
    /// Tokens to load devices by.
    public var deviceTokens: [String] = []
    /// Zones to load push tasks of.
    public var pushTasks: [ZoneKey] = []
    /// Devices to load pending pushes of.
    public var pushesOf: [DeviceKey] = []
    /// Rows of notifications to load.
    public var notifications = NotificationLoad()
    /// Operations to load kept answers of.
    public var answers: [OperationKey] = []
    /// Queries for kept answers.
    public var answerSeries: AnswerSeries?
    /// Types to load pending work on indexes of.
    public var indexWorkOf: [String] = []
    /// True to load the schema.
    public var schema = false
    /// Users to load custom roles of.
    public var rolesOf: [String] = []
    /// Users to load usage of.
    public var usageOf: [UsageKey] = []
    /// Users to load the size of deleted zones of, as far as rows of the zones are left.
    public var clearedOf: [UsageKey] = []
    /// Maximum number of deleted zones that are counted for each user.
    public var clearedZonesMax = 1_000
    /// Rows of files and sizes to load.
    public var assets = AssetLoad()
    /// Page of the users with private databases to load, or nil for none.
    public var owners: OwnersLoad?
    /// Maximum bytes of the records' fields together. Then the result is cut short.
    public var bytesMax = Int.max
    /// Maximum number of loaded references together. Then the result is cut short.
    public var dependantsMax = Int.max

    /// Makes an empty request.
    public init() {}
}

/// The loaded rows. An absent key means that the store has no such row.
public struct StoreLoaded: Sendable {
    /// Page of the users with private databases, sorted.
    public var owners: [String] = []
    /// Feed rows of databases.
    public var databases: [StoredDatabaseKey: DatabaseRow] = [:]
    /// Zones, including deleted ones.
    public var zones: [ZoneKey: ZoneRow] = [:]
    /// Records, including tombstones.
    public var records: [RecordKey: StoredRecord] = [:]
    /// Binding references to a record, sorted. An empty array for a requested record without references.
    public var dependants: [RecordKey: [ReferenceRow]] = [:]
    /// Number of DELETE_SELF references to a record, as far as they were counted.
    public var deleteSelfCounts: [RecordKey: Int] = [:]
    /// Subscriptions in a database, sorted by key.
    public var subscriptions: [StoredDatabaseKey: [SubscriptionRow]] = [:]
    /// Devices of a user, sorted by key.
    public var devices: [String: [DeviceRow]] = [:]
    /// Devices by their token.
    public var tokenDevices: [String: DeviceRow] = [:]
    /// Push tasks of zones.
    public var pushTasks: [ZoneKey: PushTaskRow] = [:]
    /// Pending pushes of a device, oldest first.
    public var pushes: [DeviceKey: [PushRow]] = [:]
    /// Rows of notifications.
    public var notifications = NotificationsLoaded()
    /// Kept answers.
    public var answers: [OperationKey: KeptAnswerRow] = [:]

    /// Pending work on the indexes of types.
    public var indexWork: [String: IndexWorkRow] = [:]
    /// The schema.
    public var schema: SchemaRow?
    /// Custom roles of users.
    public var roles: [String: UserRolesRow] = [:]
    /// Usage of users.
    public var usage: [UsageKey: UsageRow] = [:]
    /// Size of users' deleted zones that still have rows: records and tombstones in `records`, all bytes in
    /// `recordBytes`.
    public var cleared: [UsageKey: StoredSize] = [:]
    /// Rows of files and sizes.
    public var assets = AssetLoaded()
    /// True if records or references are missing because the result would be too large.
    public var isCutShort = false

    /// Makes an empty result.
    public init() {}

    /// Adds the result of a later request.
    public mutating func merge(_ other: StoreLoaded) {
        databases.merge(other.databases) { $1 }
        zones.merge(other.zones) { $1 }
        records.merge(other.records) { $1 }
        dependants.merge(other.dependants) { $1 }
        deleteSelfCounts.merge(other.deleteSelfCounts) { $1 }
        subscriptions.merge(other.subscriptions) { $1 }
        devices.merge(other.devices) { $1 }
        tokenDevices.merge(other.tokenDevices) { $1 }
        pushTasks.merge(other.pushTasks) { $1 }
        pushes.merge(other.pushes) { $1 }
        notifications.merge(other.notifications)
        answers.merge(other.answers) { $1 }
        indexWork.merge(other.indexWork) { $1 }
        schema = other.schema ?? schema
        roles.merge(other.roles) { $1 }
        usage.merge(other.usage) { $1 }
        assets.merge(other.assets)
        isCutShort = isCutShort || other.isCutShort
    }
}

/// A query for a part of a zone's change log.
public struct RecordChangesQuery: Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// Counter after which the changes start.
    public let after: Int64
    /// Counter after which tombstones are included.
    public let tombstonesAfter: Int64
    /// Maximum number of records.
    public let recordsMax: Int
    /// Bytes of fields after which the result ends, with a whole record.
    public let bytesMax: Int
    /// Highest counter of the changes.
    public let through: Int64
    /// True to start with the newest change.
    public let isNewestFirst: Bool

    /// Makes a query.
    public init(
        zone: ZoneKey, after: Int64, tombstonesAfter: Int64, recordsMax: Int, bytesMax: Int,
        through: Int64 = .max, isNewestFirst: Bool = false
    ) {
        self.zone = zone
        self.after = after
        self.tombstonesAfter = tombstonesAfter
        self.recordsMax = recordsMax
        self.bytesMax = bytesMax
        self.through = through
        self.isNewestFirst = isNewestFirst
    }
}

/// A page of a change log in the order of the counters, or of a table in the order of its keys.
public struct ChangesPage<Row: Sendable>: Sendable {
    /// The rows.
    public var rows: [Row]
    /// True if there are more after the last row.
    public var moreComing: Bool

    /// Makes a page.
    public init(rows: [Row], moreComing: Bool) {
        self.rows = rows
        self.moreComing = moreComing
    }
}

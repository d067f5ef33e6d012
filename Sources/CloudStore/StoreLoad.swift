/// The rows that a decision needs, loaded together: one round trip to a distant store.
package struct StoreLoad: Sendable {
    /// Databases to load feed rows of.
    package var databases: [StoredDatabaseKey] = []
    /// Zones to load.
    package var zones: [ZoneKey] = []
    /// Records to load, including tombstones.
    package var records: [RecordKey] = []
    /// Records to load without their fields, to know whether they exist. The fields are empty in the result.
    package var outlines: [RecordKey] = []
    /// Records to load binding references to.
    package var dependantsOf: [RecordKey] = []
    /// Records to count the DELETE_SELF references to.
    package var deleteSelfCountsOf: [RecordKey] = []
    /// Maximum count for each record.
    package var deleteSelfCountMax = 0
    /// Maximum count for all these records together. Then the result is cut short.
    package var deleteSelfCountsMax = Int.max
    /// Databases to load subscriptions of.
    package var subscriptionsIn: [StoredDatabaseKey] = []
    /// Users to load devices of.
    package var devicesOf: [String] = []
    /// Tokens to load devices by.
    package var deviceTokens: [String] = []
    /// Zones to load push tasks of.
    package var pushTasks: [ZoneKey] = []
    /// Devices to load pending pushes of.
    package var pushesOf: [DeviceKey] = []
    /// Rows of notifications to load.
    package var notifications = NotificationLoad()
    /// Operations to load kept answers of.
    package var answers: [OperationKey] = []
    /// Queries for kept answers.
    package var answerSeries: AnswerSeries?
    /// Types to load pending work on indexes of.
    package var indexWorkOf: [String] = []
    /// True to load the schema.
    package var schema = false
    /// Users to load custom roles of.
    package var rolesOf: [String] = []
    /// Users to load usage of.
    package var usageOf: [UsageKey] = []
    /// Users to load the size of deleted zones of. Only zones that still have rows count.
    package var clearedOf: [UsageKey] = []
    /// Maximum number of deleted zones that are counted for each user.
    package var clearedZonesMax = 1_000
    /// Rows of files and sizes to load.
    package var assets = AssetLoad()
    /// Page of the users with private databases to load, or nil for none.
    package var owners: OwnersLoad?
    /// Maximum bytes of the records' fields together. Then the result is cut short.
    package var bytesMax = Int.max
    /// Maximum number of loaded references together. Then the result is cut short.
    package var dependantsMax = Int.max

    /// Makes an empty request.
    package init() {}
}

/// The loaded rows. An absent key means that the store has no such row.
package struct StoreLoaded: Sendable {
    /// Page of the users with private databases, sorted.
    package var owners: [String] = []
    /// Feed rows of databases.
    package var databases: [StoredDatabaseKey: DatabaseRow] = [:]
    /// Zones, including deleted ones.
    package var zones: [ZoneKey: ZoneRow] = [:]
    /// Records, including tombstones.
    package var records: [RecordKey: StoredRecord] = [:]
    /// Binding references to a record, sorted. An empty array for a requested record without references.
    package var dependants: [RecordKey: [ReferenceRow]] = [:]
    /// Number of DELETE_SELF references to a record, up to the maximum count.
    package var deleteSelfCounts: [RecordKey: Int] = [:]
    /// Subscriptions in a database, sorted by key.
    package var subscriptions: [StoredDatabaseKey: [SubscriptionRow]] = [:]
    /// Devices of a user, sorted by key.
    package var devices: [String: [DeviceRow]] = [:]
    /// Devices by their token.
    package var tokenDevices: [String: DeviceRow] = [:]
    /// Push tasks of zones.
    package var pushTasks: [ZoneKey: PushTaskRow] = [:]
    /// Pending pushes of a device, oldest first.
    package var pushes: [DeviceKey: [PushRow]] = [:]
    /// Rows of notifications.
    package var notifications = NotificationsLoaded()
    /// Kept answers.
    package var answers: [OperationKey: KeptAnswerRow] = [:]

    /// Pending work on the indexes of types.
    package var indexWork: [String: IndexWorkRow] = [:]
    /// The schema.
    package var schema: SchemaRow?
    /// Custom roles of users.
    package var roles: [String: UserRolesRow] = [:]
    /// Usage of users.
    package var usage: [UsageKey: UsageRow] = [:]
    /// Size of users' deleted zones that still have rows: records and tombstones in `records`, all bytes in
    /// `recordBytes`.
    package var cleared: [UsageKey: StoredSize] = [:]
    /// Rows of files and sizes.
    package var assets = AssetLoaded()
    /// True if records or references are missing because the result would be too large.
    package var isCutShort = false

    /// Makes an empty result.
    package init() {}

    /// Adds the result of a later request.
    package mutating func merge(_ other: StoreLoaded) {
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
package struct RecordChangesQuery: Sendable {
    /// The zone.
    package let zone: ZoneKey
    /// Counter after which the changes start.
    package let after: Int64
    /// Counter after which tombstones are included.
    package let tombstonesAfter: Int64
    /// Maximum number of records.
    package let recordsMax: Int
    /// Bytes of fields after which the result ends, with a whole record.
    package let bytesMax: Int
    /// Highest counter of the changes.
    package let through: Int64
    /// True to start with the newest change.
    package let isNewestFirst: Bool

    /// Makes a query.
    package init(
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
package struct ChangesPage<Row: Sendable>: Sendable {
    /// The rows.
    package var rows: [Row]
    /// True if there are more after the last row.
    package var moreComing: Bool

    /// Makes a page.
    package init(rows: [Row], moreComing: Bool) {
        self.rows = rows
        self.moreComing = moreComing
    }
}

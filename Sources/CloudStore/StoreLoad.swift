/// What a decision needs to know, asked for at once: one round trip on a store that is far away.
public struct StoreLoad: Sendable {
    /// Databases whose feed row is wanted.
    public var databases: [StoredDatabaseKey] = []
    /// Zones wanted.
    public var zones: [ZoneKey] = []
    /// Records wanted, tombstones among them.
    public var records: [RecordKey] = []
    /// Records wanted without their fields, which are empty in the answer: to know that they are there.
    public var outlines: [RecordKey] = []
    /// Records whose binding references from others are wanted.
    public var dependantsOf: [RecordKey] = []
    /// Records of which it is wanted how many refer to them with DELETE_SELF.
    public var deleteSelfCountsOf: [RecordKey] = []
    /// How far is counted.
    public var deleteSelfCountMax = 0
    /// The same for all of them together; beyond, what was loaded is cut short.
    public var deleteSelfCountsMax = Int.max
    /// Databases whose subscriptions are wanted.
    public var subscriptionsIn: [StoredDatabaseKey] = []
    /// Users whose devices are wanted.
    public var devicesOf: [String] = []
    /// Tokens whose devices are wanted.
    public var deviceTokens: [String] = []
    /// Zones whose push task is wanted.
    public var pushTasks: [ZoneKey] = []
    /// Devices whose waiting pushes are wanted.
    public var pushesOf: [DeviceKey] = []
    /// What is wanted of notifications.
    public var notifications = NotificationLoad()
    /// Operations whose kept answer is wanted.
    public var answers: [OperationKey] = []
    /// The series to load kept answers of.
    public var answerSeries: AnswerSeries?
    /// Types whose work on indexes is wanted.
    public var indexWorkOf: [String] = []
    /// Whether the schema is wanted.
    public var schema = false
    /// Users whose custom roles are wanted.
    public var rolesOf: [String] = []
    /// Users whose usage is wanted.
    public var usageOf: [UsageKey] = []
    /// Users whose deleted zones' size is wanted, as far as their rows are left.
    public var clearedOf: [UsageKey] = []
    /// How many deleted zones of each are counted at most.
    public var clearedZonesMax = 1_000
    /// What is wanted of files and sizes.
    public var assets = AssetLoad()
    /// A part of the list of users who have private databases; nil: none of it.
    public var owners: OwnersLoad?
    /// When the fields of the records have more bytes than this together, the answer is cut short.
    public var bytesMax = Int.max
    /// When the records are referred to by more than this together, the answer is cut short.
    public var dependantsMax = Int.max

    /// Makes a question that asks for nothing.
    public init() {}
}

/// What was there. An absent key means that the store has no such row.
public struct StoreLoaded: Sendable {
    /// The users who were asked for, sorted.
    public var owners: [String] = []
    /// The databases' rows.
    public var databases: [StoredDatabaseKey: DatabaseRow] = [:]
    /// The zones' rows, deleted zones among them.
    public var zones: [ZoneKey: ZoneRow] = [:]
    /// The records' rows, tombstones among them.
    public var records: [RecordKey: StoredRecord] = [:]
    /// Who refers to a record, sorted; an empty list where it was asked for and nobody does.
    public var dependants: [RecordKey: [ReferenceRow]] = [:]
    /// How many records refer to one with DELETE_SELF, as far as it was counted.
    public var deleteSelfCounts: [RecordKey: Int] = [:]
    /// The subscriptions in a database, sorted by their keys.
    public var subscriptions: [StoredDatabaseKey: [SubscriptionRow]] = [:]
    /// A user's devices, sorted by their keys.
    public var devices: [String: [DeviceRow]] = [:]
    /// Devices by their token.
    public var tokenDevices: [String: DeviceRow] = [:]
    /// The zones' push tasks.
    public var pushTasks: [ZoneKey: PushTaskRow] = [:]
    /// What a device has not taken yet, the oldest first.
    public var pushes: [DeviceKey: [PushRow]] = [:]
    /// What there is of notifications.
    public var notifications = NotificationsLoaded()
    /// Kept answers.
    public var answers: [OperationKey: KeptAnswerRow] = [:]

    /// What is left to do on types' indexes.
    public var indexWork: [String: IndexWorkRow] = [:]
    /// The schema.
    public var schema: SchemaRow?
    /// Users' custom roles.
    public var roles: [String: UserRolesRow] = [:]
    /// Users' usage.
    public var usage: [UsageKey: UsageRow] = [:]
    /// The size of users' deleted zones whose rows are left: records and tombstones in `records`, all bytes in
    /// `recordBytes`.
    public var cleared: [UsageKey: StoredSize] = [:]
    /// Files and sizes.
    public var assets = AssetLoaded()
    /// True when there are records or references that are not in the answer, because it would have become too large.
    public var isCutShort = false

    /// Makes an empty answer.
    public init() {}

    /// Takes in what a later question found.
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

/// Which part of a zone's change log is wanted.
public struct RecordChangesQuery: Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// Only changes with a counter above this.
    public let after: Int64
    /// Of the tombstones only those with a counter above this.
    public let tombstonesAfter: Int64
    /// Records at most.
    public let recordsMax: Int
    /// The answer ends with the record whose fields cross this many bytes.
    public let bytesMax: Int
    /// Only changes with a counter that is not above this.
    public let through: Int64
    /// Whether the newest change comes first.
    public let isNewestFirst: Bool

    /// Makes a question.
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

/// A part of a change log, in the order of the counters, or of a table, in the order of its keys.
public struct ChangesPage<Row: Sendable>: Sendable {
    /// The rows.
    public var rows: [Row]
    /// True when there are more behind the last row.
    public var moreComing: Bool

    /// Makes a page.
    public init(rows: [Row], moreComing: Bool) {
        self.rows = rows
        self.moreComing = moreComing
    }
}

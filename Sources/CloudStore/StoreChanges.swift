/// The writes of a decision: whole rows, applied in the order of the properties.
public struct StoreChanges: Sendable {
    /// Maximum number of rows that are written and removed, including index entries and references. With more, the
    /// write throws `CloudStoreError.tooManyRows`. A store in memory has no limit.
    public var rowsMax = Int.max
    /// True to delete all rows without tombstones before the rest is written. The schema, the users' roles and the
    /// operator's settings stay.
    public var erasesData = false
    /// Feed rows to write.
    public var databases: [DatabaseRow] = []
    /// Zone rows to write.
    public var zones: [ZoneRow] = []
    /// Rows of deleted zones to delete. The caller writes the floor into the database's row.
    public var removedZones: [ZoneKey] = []
    /// Zones to clear: their records and references are deleted without tombstones, before anything else is written. A
    /// store may hide the rows until `removeClearedRows` removes them.
    public var clearedZones: [ZoneKey] = []
    /// Zones, each with a counter up to which tombstones are deleted. The caller writes the floor into the zone's row.
    public var prunedTombstones: [PrunedTombstones] = []
    /// Binding references to delete.
    public var removedReferences: [ReferenceRow] = []
    /// Records to delete all binding references of.
    public var removedSources: [RecordKey] = []
    /// Binding references to write.
    public var addedReferences: [ReferenceRow] = []
    /// Records to delete without a tombstone, in zones without a feed; or tombstones to delete, for which the caller
    /// writes the floor into the zone's row.
    public var removedRecords: [RecordKey] = []
    /// Record rows and tombstones to write.
    public var records: [StoredRecord] = []
    /// Index entries of records to write.
    public var indexes: [RecordIndexRow] = []
    /// Pending work on the indexes of types to write.
    public var indexWork: [IndexWorkRow] = []
    /// Files of records to write.
    public var assets: [RecordAssetsRow] = []
    /// Users' usage to write.
    public var usage: [UsageRow] = []
    /// Secrets to write.
    public var secrets: [SecretRow] = []
    /// The schema to write.
    public var schema: SchemaRow?
    /// Users' roles to write.
    public var roles: [UserRolesRow] = []
    /// Subscriptions to delete.
    public var removedSubscriptions: [SubscriptionKey] = []
    /// Subscriptions to write.
    public var subscriptions: [SubscriptionRow] = []
    /// Devices to delete, with their pending pushes.
    public var removedDevices: [DeviceKey] = []
    /// Devices to write. Two devices can't have the same token.
    public var devices: [DeviceRow] = []
    /// Pushes to delete.
    public var removedPushes: [PushKey] = []
    /// Pushes to write.
    public var pushes: [PushRow] = []
    /// Zones to delete the push task of.
    public var removedPushTasks: [ZoneKey] = []
    /// Push tasks to write.
    public var pushTasks: [PushTaskRow] = []
    /// Writes of notifications.
    public var notifications = NotificationChanges()
    /// Kept answers to delete.
    public var removedAnswers: [OperationKey] = []
    /// Kept answers to write.
    public var answers: [KeptAnswerRow] = []

    /// Makes an empty set of changes.
    public init() {}

    /// True if there is nothing to write.
    public var isEmpty: Bool {
        !erasesData && databases.isEmpty && zones.isEmpty && removedZones.isEmpty && clearedZones.isEmpty
            && prunedTombstones.isEmpty
            && removedReferences.isEmpty && removedSources.isEmpty && addedReferences.isEmpty
            && removedRecords.isEmpty
            && records.isEmpty && indexes.isEmpty && indexWork.isEmpty && assets.isEmpty && usage.isEmpty
            && secrets.isEmpty && schema == nil
            && roles.isEmpty && isEmptyOfPushes && removedAnswers.isEmpty && answers.isEmpty
    }

    /// True if there is nothing to write about subscriptions, devices and pushes.
    var isEmptyOfPushes: Bool {
        removedSubscriptions.isEmpty && subscriptions.isEmpty && removedDevices.isEmpty && devices.isEmpty
            && removedPushes.isEmpty && pushes.isEmpty && removedPushTasks.isEmpty && pushTasks.isEmpty
            && notifications.isEmpty
    }
}

/// The tombstones of a zone up to a counter.
public struct PrunedTombstones: Hashable, Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// Highest counter to delete.
    public let through: Int64

    /// Makes the tombstones of `zone` up to and including the counter `through`.
    public init(zone: ZoneKey, through: Int64) {
        self.zone = zone
        self.through = through
    }
}

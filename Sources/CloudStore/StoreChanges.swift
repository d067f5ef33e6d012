/// What a decision wants written: whole rows, applied in the order of the properties below.
public struct StoreChanges: Sendable {
    /// Rows that may be written and removed, index entries and references counted; with more the write throws
    /// `CloudStoreError.tooManyRows`. A store in memory counts none.
    public var rowsMax = Int.max
    /// Whether all rows go without a trace before the rest is written: everything but the schema, the users' roles and
    /// what the operator has set.
    public var erasesData = false
    /// Feed rows to write.
    public var databases: [DatabaseRow] = []
    /// Zone rows to write.
    public var zones: [ZoneRow] = []
    /// Zone rows that go: rows of deleted zones. The caller writes the floor into the database's row.
    public var removedZones: [ZoneKey] = []
    /// Zones whose records and references go without a trace, before anything else is written. A store may keep the
    /// rows where nobody meets them, until `removeClearedRows` removes them.
    public var clearedZones: [ZoneKey] = []
    /// Zones whose tombstones at or below a counter go. The caller writes the floor into the zone's row.
    public var prunedTombstones: [PrunedTombstones] = []
    /// Binding references that are no more.
    public var removedReferences: [ReferenceRow] = []
    /// Records all of whose binding references to others are no more.
    public var removedSources: [RecordKey] = []
    /// Binding references that are new.
    public var addedReferences: [ReferenceRow] = []
    /// Records that go without a trace: in a zone without a feed, or tombstones. For these the caller writes the floor
    /// into the zone's row.
    public var removedRecords: [RecordKey] = []
    /// Record rows and tombstones to write.
    public var records: [StoredRecord] = []
    /// What records are found by from now on.
    public var indexes: [RecordIndexRow] = []
    /// What is left to do on types' indexes.
    public var indexWork: [IndexWorkRow] = []
    /// The files that records hold from now on.
    public var assets: [RecordAssetsRow] = []
    /// Users' usage to write.
    public var usage: [UsageRow] = []
    /// Secrets to write.
    public var secrets: [SecretRow] = []
    /// The schema to write.
    public var schema: SchemaRow?
    /// Users' roles to write.
    public var roles: [UserRolesRow] = []
    /// Subscriptions that go.
    public var removedSubscriptions: [SubscriptionKey] = []
    /// Subscriptions to write.
    public var subscriptions: [SubscriptionRow] = []
    /// Devices that go, with the pushes that wait for them.
    public var removedDevices: [DeviceKey] = []
    /// Devices to write. No two may have one token.
    public var devices: [DeviceRow] = []
    /// Pushes that go.
    public var removedPushes: [PushKey] = []
    /// Pushes to write.
    public var pushes: [PushRow] = []
    /// Zones whose push task is done.
    public var removedPushTasks: [ZoneKey] = []
    /// Push tasks to write.
    public var pushTasks: [PushTaskRow] = []
    /// What is to be written of notifications.
    public var notifications = NotificationChanges()
    /// Kept answers that go.
    public var removedAnswers: [OperationKey] = []
    /// Answers to keep.
    public var answers: [KeptAnswerRow] = []

    /// Makes changes that change nothing.
    public init() {}

    /// True when there is nothing to write.
    public var isEmpty: Bool {
        !erasesData && databases.isEmpty && zones.isEmpty && removedZones.isEmpty && clearedZones.isEmpty
            && prunedTombstones.isEmpty
            && removedReferences.isEmpty && removedSources.isEmpty && addedReferences.isEmpty
            && removedRecords.isEmpty
            && records.isEmpty && indexes.isEmpty && indexWork.isEmpty && assets.isEmpty && usage.isEmpty
            && secrets.isEmpty && schema == nil
            && roles.isEmpty && isEmptyOfPushes && removedAnswers.isEmpty && answers.isEmpty
    }

    /// True when nothing of subscriptions, devices and pushes is to be written.
    var isEmptyOfPushes: Bool {
        removedSubscriptions.isEmpty && subscriptions.isEmpty && removedDevices.isEmpty && devices.isEmpty
            && removedPushes.isEmpty && pushes.isEmpty && removedPushTasks.isEmpty && pushTasks.isEmpty
            && notifications.isEmpty
    }
}

/// Tombstones of one zone, up to a counter.
public struct PrunedTombstones: Hashable, Sendable {
    /// The zone.
    public let zone: ZoneKey
    /// The highest counter that goes.
    public let through: Int64

    /// Names the tombstones of `zone` up to and with the counter `through`.
    public init(zone: ZoneKey, through: Int64) {
        self.zone = zone
        self.through = through
    }
}

/// The writes of a decision: whole rows, applied in the order of the properties.
package struct StoreChanges: Sendable {
    /// Maximum number of rows that are written and removed, including index entries and references. With more, the
    /// write throws `CloudStoreError.tooManyRows`. A store in memory has no limit.
    package var rowsMax = Int.max
    /// True to delete all rows without tombstones before the rest is written. The schema, the users' roles and the
    /// operator's settings stay.
    package var erasesData = false
    /// Feed rows to write.
    package var databases: [DatabaseRow] = []
    /// Zone rows to write.
    package var zones: [ZoneRow] = []
    /// Rows of deleted zones to delete. The caller writes the floor into the database's row.
    package var removedZones: [ZoneKey] = []
    /// Zones to clear: their records and references are deleted without tombstones, before anything else is written. A
    /// store may hide the rows until `removeClearedRows` removes them.
    package var clearedZones: [ZoneKey] = []
    /// Zones, each with a counter up to which tombstones are deleted. The caller writes the floor into the zone's row.
    package var prunedTombstones: [PrunedTombstones] = []
    /// Binding references to delete.
    package var removedReferences: [ReferenceRow] = []
    /// Records to delete all binding references of.
    package var removedSources: [RecordKey] = []
    /// Binding references to write.
    package var addedReferences: [ReferenceRow] = []
    /// Records to delete without a tombstone, in zones without a feed; or tombstones to delete, for which the caller
    /// writes the floor into the zone's row.
    package var removedRecords: [RecordKey] = []
    /// Record rows and tombstones to write.
    package var records: [StoredRecord] = []
    /// Index entries of records to write.
    package var indexes: [RecordIndexRow] = []
    /// Pending work on the indexes of types to write.
    package var indexWork: [IndexWorkRow] = []
    /// Files of records to write.
    package var assets: [RecordAssetsRow] = []
    /// Users' usage to write.
    package var usage: [UsageRow] = []
    /// Secrets to write.
    package var secrets: [SecretRow] = []
    /// The schema to write.
    package var schema: SchemaRow?
    /// Users' roles to write.
    package var roles: [UserRolesRow] = []
    /// Subscriptions to delete.
    package var removedSubscriptions: [SubscriptionKey] = []
    /// Subscriptions to write.
    package var subscriptions: [SubscriptionRow] = []
    /// Devices to delete, with their pending pushes.
    package var removedDevices: [DeviceKey] = []
    /// Devices to write. Two devices can't have the same token.
    package var devices: [DeviceRow] = []
    /// Pushes to delete.
    package var removedPushes: [PushKey] = []
    /// Pushes to write.
    package var pushes: [PushRow] = []
    /// Zones to delete the push task of.
    package var removedPushTasks: [ZoneKey] = []
    /// Push tasks to write.
    package var pushTasks: [PushTaskRow] = []
    /// Writes of notifications.
    package var notifications = NotificationChanges()
    /// Kept answers to delete.
    package var removedAnswers: [OperationKey] = []
    /// Kept answers to write.
    package var answers: [KeptAnswerRow] = []

    /// Makes an empty set of changes.
    package init() {}

    /// True if there is nothing to write.
    package var isEmpty: Bool {
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
package struct PrunedTombstones: Hashable, Sendable {
    /// The zone.
    package let zone: ZoneKey
    /// Highest counter to delete.
    package let through: Int64

    /// Makes the tombstones of `zone` up to and including the counter `through`.
    package init(zone: ZoneKey, through: Int64) {
        self.zone = zone
        self.through = through
    }
}

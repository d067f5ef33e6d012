/// The feed of a private database. Its counter orders the zones by their last change.
package struct DatabaseRow: Hashable, Sendable {
    /// The database.
    package let key: StoredDatabaseKey
    /// 64 random bits. A token with other bits comes from an earlier database of the same name.
    package var epoch: UInt64
    /// Number of zone changes. A write adds one for each changed zone, so no two zones share a number.
    package var counter: Int64
    /// Number of subscriptions in the database. At 0, a write needn't look for subscriptions.
    package var subscriptionCount: Int64
    /// Rows of deleted zones at or below this counter were deleted. A token below it can't learn about those zones.
    package var zoneFloor: Int64 = 0

    /// Makes a row.
    package init(key: StoredDatabaseKey, epoch: UInt64, counter: Int64, subscriptionCount: Int64 = 0) {
        self.key = key
        self.epoch = epoch
        self.counter = counter
        self.subscriptionCount = subscriptionCount
    }
}

/// A custom zone. Default zones have no row: they always exist and have no feed.
package struct ZoneRow: Hashable, Sendable {
    /// The zone.
    package let key: ZoneKey
    /// 64 random bits, new when the zone is made again or restored, to recognize older tokens.
    package var epoch: UInt64
    /// Counter of the zone's last change. Each changed record gets the next number.
    package var counter: Int64
    /// Tombstones at or below this counter were deleted. A token below it can't learn about those deletions.
    package var tombstoneFloor: Int64
    /// Counter of the database at the zone's last change.
    package var databaseCounter: Int64
    /// True if the zone was deleted. The row stays for the database's feed.
    package var isDeleted: Bool
    /// Time of the deletion, in milliseconds since 1970. 0 if the zone exists or the time is unknown.
    package var deletedMilliseconds: Int64 = 0
    /// Sum of the checksums of its records. Records without a checksum aren't included.
    package var checksum = StoreChecksum()
    /// True if all records have a checksum. False in a file of an earlier version, until the service has
    /// counted the zone.
    package var isCounted = true
    /// Usage of its records, to subtract a deleted zone at once.
    package var size = StoredSize()

    /// Makes a row.
    package init(
        key: ZoneKey, epoch: UInt64, counter: Int64 = 0, tombstoneFloor: Int64 = 0,
        databaseCounter: Int64 = 0,
        isDeleted: Bool = false
    ) {
        self.key = key
        self.epoch = epoch
        self.counter = counter
        self.tombstoneFloor = tombstoneFloor
        self.databaseCounter = databaseCounter
        self.isDeleted = isDeleted
    }
}

/// The user, the device and the time of a change.
package struct StoreStamp: Hashable, Sendable {
    /// Time of the service, in milliseconds since 1970.
    package var timestampMilliseconds: Int64
    /// Record name of the user.
    package var userRecordName: String
    /// Name that the client gave the device.
    package var deviceID: String

    /// Makes a stamp.
    package init(timestampMilliseconds: Int64, userRecordName: String, deviceID: String) {
        self.timestampMilliseconds = timestampMilliseconds
        self.userRecordName = userRecordName
        self.deviceID = deviceID
    }
}

/// A record, or the tombstone of a deleted one.
package struct StoredRecord: Hashable, Sendable {
    /// The record.
    package let key: RecordKey
    /// Its type. A tombstone keeps it.
    package var recordType: String
    /// True for a tombstone. Its fields are empty.
    package var isDeleted: Bool
    /// Zone's epoch at the record's last change; with `counter` it is the record's change tag. In a zone without a
    /// feed, random bits that are new for each change.
    package var tagEpoch: UInt64
    /// Zone's counter at the record's last change. 0 in a zone without a feed.
    package var counter: Int64
    /// Name of the parent record in the same zone.
    package var parent: String?
    /// Creation: user, device and time.
    package var created: StoreStamp
    /// Last change: user, device and time.
    package var modified: StoreStamp
    /// The fields in their binary form. The store doesn't read them.
    package var fields: [UInt8]
    /// The record's part of its zone's checksum. Nil for a tombstone, in a zone without a feed, and until a record of
    /// an earlier version has been counted.
    package var checksum: StoreChecksum?
    /// Bytes of the record's names, index entries, references and rows of files; for a tombstone, of its names. Too low
    /// until a record of an earlier version has been counted. 0 for a tombstone of an earlier version.
    package var indexBytes: Int64 = 0

    /// Makes a row.
    package init(
        key: RecordKey, recordType: String, isDeleted: Bool = false, tagEpoch: UInt64, counter: Int64,
        parent: String? = nil, created: StoreStamp, modified: StoreStamp, fields: [UInt8],
        checksum: StoreChecksum? = nil
    ) {
        self.checksum = checksum
        self.key = key
        self.recordType = recordType
        self.isDeleted = isDeleted
        self.tagEpoch = tagEpoch
        self.counter = counter
        self.parent = parent
        self.created = created
        self.modified = modified
        self.fields = fields
    }
}

/// A binding reference, stored to find the source from its target. References with the action NONE have no row.
package struct ReferenceRow: Hashable, Comparable, Sendable {
    /// What happens to the source when the target is deleted. The raw value is stored on disk.
    package enum Kind: Int64, Hashable, Sendable {
        /// The source is deleted with the target.
        case deleteSelf = 1
        /// The target can't be deleted while the source exists.
        case validate = 2
        /// The target is the source's parent, and can't be deleted while the source exists.
        case parent = 3
    }

    /// Record that is referenced.
    package let target: RecordKey
    /// Name of the referencing record, in the same zone.
    package let sourceName: String
    /// Kind of the binding.
    package let kind: Kind

    /// Makes a row.
    package init(target: RecordKey, sourceName: String, kind: Kind) {
        self.target = target
        self.sourceName = sourceName
        self.kind = kind
    }

    /// Bytes of the row in the usage of its user. It is stored twice, each time with the zone's names.
    package var countedBytes: Int64 {
        let zone = target.zone
        let names = zone.database.owner.utf8.count + zone.zoneName.utf8.count
        return Int64(
            2 * (names + target.recordName.utf8.count + sourceName.utf8.count) + StoredIndexEntry.rowBytes)
    }

    /// Record that has the reference.
    package var source: RecordKey { RecordKey(zone: target.zone, recordName: sourceName) }

    /// Sorts by target, source and kind, as the keys on disk are sorted.
    package static func < (left: ReferenceRow, right: ReferenceRow) -> Bool {
        (left.target, left.sourceName, left.kind.rawValue) < (
            right.target, right.sourceName, right.kind.rawValue
        )
    }
}

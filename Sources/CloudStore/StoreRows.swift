/// A private database's own feed: which zone changed last is told by this counter.
public struct DatabaseRow: Hashable, Sendable {
    /// The database.
    public let key: StoredDatabaseKey
    /// 64 random bits; a token with others comes from another life of the database.
    public var epoch: UInt64
    /// Counts the changes of zones: a write adds one for each zone that it changed, so no two share a number.
    public var counter: Int64
    /// How many subscriptions watch the database, so that a write into one that nobody watches needn't ask.
    public var subscriptionCount: Int64
    /// Rows of deleted zones at or below are gone: a token below this counter can't learn which zones were deleted.
    public var zoneFloor: Int64 = 0

    /// Makes a row.
    public init(key: StoredDatabaseKey, epoch: UInt64, counter: Int64, subscriptionCount: Int64 = 0) {
        self.key = key
        self.epoch = epoch
        self.counter = counter
        self.subscriptionCount = subscriptionCount
    }
}

/// A custom zone. Default zones have no row: they always exist and have no feed.
public struct ZoneRow: Hashable, Sendable {
    /// The zone.
    public let key: ZoneKey
    /// 64 random bits; new when the zone is made again or restored, so that older tokens are told apart.
    public var epoch: UInt64
    /// The counter of the zone's last change; each changed record takes the next number.
    public var counter: Int64
    /// Tombstones at or below are gone: a token below this counter can't learn what was deleted.
    public var tombstoneFloor: Int64
    /// The database's counter when this zone last changed.
    public var databaseCounter: Int64
    /// True when the zone was deleted; the row stays so that the database's feed can say so.
    public var isDeleted: Bool
    /// When it was deleted, in milliseconds since 1970; 0 when it wasn't, or nobody knows.
    public var deletedMilliseconds: Int64 = 0
    /// The sum of its live records' checksums, as far as they have one.
    public var checksum = StoreChecksum()
    /// Whether all live records have a checksum. False in a file of an earlier version, until the service has been
    /// through the zone.
    public var isCounted = true
    /// What its records come to in the usage of its owner, so that a zone is taken off at once.
    public var size = StoredSize()

    /// Makes a row.
    public init(
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

/// Who touched a record, and when.
public struct StoreStamp: Hashable, Sendable {
    /// The service's time in milliseconds since 1970.
    public var timestampMilliseconds: Int64
    /// The record name of the user.
    public var userRecordName: String
    /// The device as the client named it.
    public var deviceID: String

    /// Makes a stamp.
    public init(timestampMilliseconds: Int64, userRecordName: String, deviceID: String) {
        self.timestampMilliseconds = timestampMilliseconds
        self.userRecordName = userRecordName
        self.deviceID = deviceID
    }
}

/// A record, or the tombstone of a deleted one.
public struct StoredRecord: Hashable, Sendable {
    /// The record.
    public let key: RecordKey
    /// Its type; a tombstone keeps it.
    public var recordType: String
    /// True for a tombstone, whose fields are empty.
    public var isDeleted: Bool
    /// With `counter` the record's change tag. The zone's epoch at the record's last change; in a zone
    /// without a feed fresh random bits for each change.
    public var tagEpoch: UInt64
    /// The zone's counter at the record's last change; 0 in a zone without a feed.
    public var counter: Int64
    /// The name of the parent record in the same zone.
    public var parent: String?
    /// Who made the record.
    public var created: StoreStamp
    /// Who changed it last.
    public var modified: StoreStamp
    /// The fields in their binary form; the store doesn't look inside.
    public var fields: [UInt8]
    /// What the record adds to its zone's checksum; nil for a tombstone, in a zone without a feed, and where nothing
    /// has counted it since an earlier version wrote it.
    public var checksum: StoreChecksum?
    /// What the record's names, index entries, references and rows of files count as, of a tombstone its names. Less
    /// until a record of an earlier version is counted; 0 for a tombstone of one.
    public var indexBytes: Int64 = 0

    /// Makes a row.
    public init(
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

/// A reference that binds: the service must find it from its target. References of action NONE have no row.
public struct ReferenceRow: Hashable, Comparable, Sendable {
    /// What happens to the source when the target goes. The raw value is what stands on disk.
    public enum Kind: Int64, Hashable, Sendable {
        /// The source is deleted with the target.
        case deleteSelf = 1
        /// The target can't be deleted while the source is there.
        case validate = 2
        /// The source's parent; it can't be deleted while the source is there.
        case parent = 3
    }

    /// The record that is referred to.
    public let target: RecordKey
    /// The name of the record that refers to it, in the same zone.
    public let sourceName: String
    /// How it is bound.
    public let kind: Kind

    /// Makes a row.
    public init(target: RecordKey, sourceName: String, kind: Kind) {
        self.target = target
        self.sourceName = sourceName
        self.kind = kind
    }

    /// Bytes that the row counts as in its user's usage: it lies on the disk twice, each time with the zone's names.
    public var countedBytes: Int64 {
        let zone = target.zone
        let names = zone.database.owner.utf8.count + zone.zoneName.utf8.count
        return Int64(
            2 * (names + target.recordName.utf8.count + sourceName.utf8.count) + StoredIndexEntry.rowBytes)
    }

    /// The record that refers.
    public var source: RecordKey { RecordKey(zone: target.zone, recordName: sourceName) }

    /// Orders by target, source, kind, as the keys on disk are ordered.
    public static func < (left: ReferenceRow, right: ReferenceRow) -> Bool {
        (left.target, left.sourceName, left.kind.rawValue) < (
            right.target, right.sourceName, right.kind.rawValue
        )
    }
}

/// What a decision about files and usage needs to know.
public struct AssetLoad: Sendable {
    /// Records whose size is wanted.
    public var sizesOf: [RecordKey] = []
    /// Files; the result says which of them are in a record of the owner.
    public var owned: [OwnedAsset] = []
    /// Digests of files; the result says which of them are in any record.
    public var digests: [[UInt8]] = []
    /// Secrets wanted, by their names.
    public var secrets: [String] = []
    /// Zones; the result has the size of their tombstones' names.
    public var tombstoneBytesOf: [ZoneKey] = []
    /// Whether the number of users who have a private database with something in it is wanted.
    public var countsPrivateUsers = false

    /// Makes a question that asks for nothing.
    public init() {}
}

/// What was there of it. An absent key means that there is no such row.
public struct AssetLoaded: Sendable {
    /// The records' sizes; none for tombstones.
    public var sizes: [RecordKey: StoredSize] = [:]
    /// What the names of the zones' tombstones count as.
    public var tombstoneBytes: [ZoneKey: Int64] = [:]
    /// The files that their owners have, with the bytes of each.
    public var owned: [OwnedAsset: Int64] = [:]
    /// The digests of files that some record holds.
    public var usedDigests: Set<[UInt8]> = []
    /// The secrets.
    public var secrets: [String: [UInt8]] = [:]
    /// How many users have something in their private database.
    public var privateUsersCount: Int64 = 0

    /// Makes an empty answer.
    public init() {}

    mutating func merge(_ other: AssetLoaded) {
        sizes.merge(other.sizes) { $1 }
        tombstoneBytes.merge(other.tombstoneBytes) { $1 }
        owned.merge(other.owned) { $1 }
        usedDigests.formUnion(other.usedDigests)
        secrets.merge(other.secrets) { $1 }
        privateUsersCount = max(privateUsersCount, other.privateUsersCount)
    }
}

/// A file in the records of one database.
public struct OwnedAsset: Hashable, Sendable {
    /// The database whose records may hold it.
    public let database: StoredDatabaseKey
    /// The file's SHA-256.
    public let digest: [UInt8]

    /// Names the file `digest` as a record of `database` holds it.
    public init(database: StoredDatabaseKey, digest: [UInt8]) {
        self.database = database
        self.digest = digest
    }
}

/// How much room something takes.
public struct StoredSize: Hashable, Sendable {
    /// Records, without tombstones.
    public var records: Int64
    /// Bytes of the records' fields as they lie on disk.
    public var recordBytes: Int64
    /// Bytes of the files that the records hold; a file in two records counts twice.
    public var assetBytes: Int64
    /// What the names of records and tombstones, index entries, references and files' rows count as. See
    /// `RecordIndexRow.countedBytes`.
    public var indexBytes: Int64
    /// Tombstones of deleted records.
    public var tombstones: Int64
    /// Rows of custom zones, deleted ones among them until they are pruned.
    public var zones: Int64

    /// Bytes of fields, files, names, index entries and references together.
    public var bytes: Int64 { recordBytes + assetBytes + indexBytes }

    /// Makes a size.
    public init(
        records: Int64 = 0, recordBytes: Int64 = 0, assetBytes: Int64 = 0, indexBytes: Int64 = 0,
        tombstones: Int64 = 0, zones: Int64 = 0
    ) {
        self.records = records
        self.recordBytes = recordBytes
        self.assetBytes = assetBytes
        self.indexBytes = indexBytes
        self.tombstones = tombstones
        self.zones = zones
    }

    /// Adds what comes.
    public static func += (size: inout StoredSize, change: StoredSize) {
        size.records += change.records
        size.recordBytes += change.recordBytes
        size.assetBytes += change.assetBytes
        size.indexBytes += change.indexBytes
        size.tombstones += change.tombstones
        size.zones += change.zones
    }
}

/// Something that only the service may know: what it signs addresses and receipts with.
public struct SecretRow: Hashable, Sendable {
    /// What it is for.
    public let name: String
    /// Random bytes.
    public var value: [UInt8]

    /// Makes a row.
    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// The rows about files and usage that a decision needs.
public struct AssetLoad: Sendable {
    /// Records to load sizes of.
    public var sizesOf: [RecordKey] = []
    /// Files to look for in the records of their owners.
    public var owned: [OwnedAsset] = []
    /// Digests of files to look for in all records.
    public var digests: [[UInt8]] = []
    /// Names of secrets to load.
    public var secrets: [String] = []
    /// Zones to load the size of their tombstones' names of.
    public var tombstoneBytesOf: [ZoneKey] = []
    /// True to count the users with something in their private database.
    public var countsPrivateUsers = false

    /// Makes an empty request.
    public init() {}
}

/// The loaded rows. An absent key means that the store has no such row.
public struct AssetLoaded: Sendable {
    /// Sizes of records. Tombstones have none.
    public var sizes: [RecordKey: StoredSize] = [:]
    /// Bytes of the names of the zones' tombstones.
    public var tombstoneBytes: [ZoneKey: Int64] = [:]
    /// Files that are in records of their owners, with their sizes in bytes.
    public var owned: [OwnedAsset: Int64] = [:]
    /// Digests of files that are in some record.
    public var usedDigests: Set<[UInt8]> = []
    /// The secrets.
    public var secrets: [String: [UInt8]] = [:]
    /// Number of users with something in their private database.
    public var privateUsersCount: Int64 = 0

    /// Makes an empty result.
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
    /// Database of the records.
    public let database: StoredDatabaseKey
    /// The file's SHA-256.
    public let digest: [UInt8]

    /// Makes the key of the file `digest` in the records of `database`.
    public init(database: StoredDatabaseKey, digest: [UInt8]) {
        self.database = database
        self.digest = digest
    }
}

/// An amount of storage.
public struct StoredSize: Hashable, Sendable {
    /// Number of records, without tombstones.
    public var records: Int64
    /// Bytes of the records' fields on disk.
    public var recordBytes: Int64
    /// Bytes of the records' files. A file in two records counts twice.
    public var assetBytes: Int64
    /// Bytes of the names of records and tombstones, index entries, references and rows of files. See
    /// `RecordIndexRow.countedBytes`.
    public var indexBytes: Int64
    /// Number of tombstones of deleted records.
    public var tombstones: Int64
    /// Number of rows of custom zones, including deleted ones until they are pruned.
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

    /// Adds another amount.
    public static func += (size: inout StoredSize, change: StoredSize) {
        size.records += change.records
        size.recordBytes += change.recordBytes
        size.assetBytes += change.assetBytes
        size.indexBytes += change.indexBytes
        size.tombstones += change.tombstones
        size.zones += change.zones
    }
}

/// A secret of the service, for example to sign URLs and receipts.
public struct SecretRow: Hashable, Sendable {
    /// Name of the secret.
    public let name: String
    /// Random bytes.
    public var value: [UInt8]

    /// Makes a row.
    public init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

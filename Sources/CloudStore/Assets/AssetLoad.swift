/// The rows about files and usage that a decision needs.
package struct AssetLoad: Sendable {
    /// Records to load sizes of.
    package var sizesOf: [RecordKey] = []
    /// Files to look for in the records of their owners.
    package var owned: [OwnedAsset] = []
    /// Digests of files to look for in all records.
    package var digests: [[UInt8]] = []
    /// Names of secrets to load.
    package var secrets: [String] = []
    /// Zones to load the size of their tombstones' names of.
    package var tombstoneBytesOf: [ZoneKey] = []
    /// True to count the users with something in their private database.
    package var countsPrivateUsers = false

    /// Makes an empty request.
    package init() {}
}

/// The loaded rows. An absent key means that the store has no such row.
package struct AssetLoaded: Sendable {
    /// Sizes of records. Tombstones have none.
    package var sizes: [RecordKey: StoredSize] = [:]
    /// Bytes of the names of the zones' tombstones.
    package var tombstoneBytes: [ZoneKey: Int64] = [:]
    /// Files that are in records of their owners, with their sizes in bytes.
    package var owned: [OwnedAsset: Int64] = [:]
    /// Digests of files that are in some record.
    package var usedDigests: Set<[UInt8]> = []
    /// The secrets.
    package var secrets: [String: [UInt8]] = [:]
    /// Number of users with something in their private database.
    package var privateUsersCount: Int64 = 0

    /// Makes an empty result.
    package init() {}

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
package struct OwnedAsset: Hashable, Sendable {
    /// Database of the records.
    package let database: StoredDatabaseKey
    /// The file's SHA-256.
    package let digest: [UInt8]

    /// Makes the key of the file `digest` in the records of `database`.
    package init(database: StoredDatabaseKey, digest: [UInt8]) {
        self.database = database
        self.digest = digest
    }
}

/// An amount of storage.
package struct StoredSize: Hashable, Sendable {
    /// Number of records, without tombstones.
    package var records: Int64
    /// Bytes of the records' fields on disk.
    package var recordBytes: Int64
    /// Bytes of the records' files. A file in two records counts twice.
    package var assetBytes: Int64
    /// Bytes of the names of records and tombstones, index entries, references and rows of files. See
    /// `RecordIndexRow.countedBytes`.
    package var indexBytes: Int64
    /// Number of tombstones of deleted records.
    package var tombstones: Int64
    /// Number of rows of custom zones, including deleted ones until they are pruned.
    package var zones: Int64

    /// Bytes of fields, files, names, index entries and references together.
    package var bytes: Int64 { recordBytes + assetBytes + indexBytes }

    /// Makes a size.
    package init(
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
    package static func += (size: inout StoredSize, change: StoredSize) {
        size.records += change.records
        size.recordBytes += change.recordBytes
        size.assetBytes += change.assetBytes
        size.indexBytes += change.indexBytes
        size.tombstones += change.tombstones
        size.zones += change.zones
    }
}

/// A secret of the service, for example to sign URLs and receipts.
package struct SecretRow: Hashable, Sendable {
    /// Name of the secret.
    package let name: String
    /// Random bytes.
    package var value: [UInt8]

    /// Makes a row.
    package init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

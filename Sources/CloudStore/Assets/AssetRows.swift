/// A file in a record.
package struct AssetUse: Hashable, Comparable, Sendable {
    /// SHA-256 of the file's bytes, which is its name on the disk.
    package let digest: [UInt8]
    /// Size of the file in bytes.
    package let bytes: Int64

    /// Makes a use.
    package init(digest: [UInt8], bytes: Int64) {
        self.digest = digest
        self.bytes = bytes
    }

    /// Sorts by digest.
    package static func < (left: AssetUse, right: AssetUse) -> Bool {
        left.digest.lexicographicallyPrecedes(right.digest)
    }
}

/// All files of a record. They replace its previous files. Deleting a record deletes them.
package struct RecordAssetsRow: Hashable, Sendable {
    /// The record.
    package let key: RecordKey
    /// The files, sorted and unique.
    package var uses: [AssetUse]

    /// Makes a row.
    package init(key: RecordKey, uses: [AssetUse]) {
        self.key = key
        self.uses = uses
    }
}

/// The key of a user's usage: in the private database of the user, or in the public one as the creator of records.
package struct UsageKey: Hashable, Comparable, Sendable {
    /// Private or public database.
    package let scope: StoredDatabaseKey.Scope
    /// Record name of the user.
    package let user: String

    /// Makes the key of the usage of `user` in the databases of `scope`.
    package init(scope: StoredDatabaseKey.Scope, user: String) {
        self.scope = scope
        self.user = user
    }

    /// Sorts by scope and user, as the keys on disk are sorted.
    package static func < (left: UsageKey, right: UsageKey) -> Bool {
        (left.scope, left.user) < (right.scope, right.user)
    }
}

/// The usage of a user, updated in the transaction of each write.
package struct UsageRow: Hashable, Sendable {
    /// User and scope.
    package let key: UsageKey
    /// Amount of storage.
    package var size: StoredSize

    /// Makes a row.
    package init(key: UsageKey, size: StoredSize = StoredSize()) {
        self.key = key
        self.size = size
    }
}

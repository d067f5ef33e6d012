/// A file that a record holds.
public struct AssetUse: Hashable, Comparable, Sendable {
    /// The SHA-256 of the file's bytes, by which it is found on the disk.
    public let digest: [UInt8]
    /// The file's size.
    public let bytes: Int64

    /// Makes a use.
    public init(digest: [UInt8], bytes: Int64) {
        self.digest = digest
        self.bytes = bytes
    }

    /// Orders by the digest.
    public static func < (left: AssetUse, right: AssetUse) -> Bool {
        left.digest.lexicographicallyPrecedes(right.digest)
    }
}

/// All files of a record: they take the place of those it had. A record that goes loses them by itself.
public struct RecordAssetsRow: Hashable, Sendable {
    /// The record.
    public let key: RecordKey
    /// The files, sorted, each once.
    public var uses: [AssetUse]

    /// Makes a row.
    public init(key: RecordKey, uses: [AssetUse]) {
        self.key = key
        self.uses = uses
    }
}

/// What a user has in a container: the owner of a private database, or in the public one who made the records.
public struct UsageKey: Hashable, Comparable, Sendable {
    /// Whether in the private database or in the public one.
    public let scope: StoredDatabaseKey.Scope
    /// The record name of the user.
    public let user: String

    /// Names what `user` has in the databases of `scope`.
    public init(scope: StoredDatabaseKey.Scope, user: String) {
        self.scope = scope
        self.user = user
    }

    /// Orders by scope, then user, as the keys on disk are ordered.
    public static func < (left: UsageKey, right: UsageKey) -> Bool {
        (left.scope, left.user) < (right.scope, right.user)
    }
}

/// How much a user has, counted in the transaction of each write.
public struct UsageRow: Hashable, Sendable {
    /// Whose.
    public let key: UsageKey
    /// How much.
    public var size: StoredSize

    /// Makes a row.
    public init(key: UsageKey, size: StoredSize = StoredSize()) {
        self.key = key
        self.size = size
    }
}

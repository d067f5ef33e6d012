/// The key of a database. It is the first part of every key, so the rows of one user are one contiguous range.
package struct StoredDatabaseKey: Hashable, Comparable, Sendable {
    /// Kind of database. The raw value is stored on disk.
    package enum Scope: Int64, Hashable, Comparable, Sendable {
        /// One database for all users of the container.
        case publicDatabase = 1
        /// One database for each user.
        case privateDatabase = 2

        /// Sorts by the raw value, as the keys on disk are sorted.
        package static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
    }

    /// Kind of database.
    package let scope: Scope
    /// Record name of the user that owns the database. Empty for the public database.
    package let owner: String

    /// The container's one public database.
    package static let publicDatabase = StoredDatabaseKey(scope: .publicDatabase, owner: "")

    /// Returns the private database of the user `owner`.
    package static func privateDatabase(of owner: String) -> StoredDatabaseKey {
        StoredDatabaseKey(scope: .privateDatabase, owner: owner)
    }

    /// Sorts by scope and owner.
    package static func < (left: StoredDatabaseKey, right: StoredDatabaseKey) -> Bool {
        (left.scope, left.owner) < (right.scope, right.owner)
    }
}

/// A zone of a database.
package struct ZoneKey: Hashable, Comparable, Sendable {
    /// The zone's database.
    package let database: StoredDatabaseKey
    /// The zone's name, unique in its database.
    package let zoneName: String

    /// Makes the key of the zone `zoneName` in `database`.
    package init(database: StoredDatabaseKey, zoneName: String) {
        self.database = database
        self.zoneName = zoneName
    }

    /// Sorts by database and name.
    package static func < (left: ZoneKey, right: ZoneKey) -> Bool {
        (left.database, left.zoneName) < (right.database, right.zoneName)
    }
}

/// A record of a zone.
package struct RecordKey: Hashable, Comparable, Sendable {
    /// The record's zone.
    package let zone: ZoneKey
    /// The record's name, unique in its zone.
    package let recordName: String

    /// Makes the key of the record `recordName` in `zone`.
    package init(zone: ZoneKey, recordName: String) {
        self.zone = zone
        self.recordName = recordName
    }

    /// Sorts by zone and name.
    package static func < (left: RecordKey, right: RecordKey) -> Bool {
        (left.zone, left.recordName) < (right.zone, right.recordName)
    }
}

package import CloudKit

/// The sync's tables in a database's file, read without taking part in the sync.
package struct SyncInspection: Sendable {
    package let path: String
    /// Number of the newest commit that was read.
    package let snapshot: UInt64
    /// Names of the extensions that aren't syncs.
    package let otherExtensions: [String]
    package let registrations: [Registration]

    /// The sync under one registered name.
    package struct Registration: Sendable {
        package let name: String
        /// Version of the tables.
        package let classVersion: Int
        /// Version of the app's handler.
        package let versionTag: String
        /// Content of the tables, or nil if this program can't read their version.
        package var content: Content?
    }

    package struct Content: Sendable {
        package var accounts: [Account]
        /// Number of merge decisions that weren't handed to the app.
        package var untoldMerges: Int
        /// The newest of them first. Those that can't be read are left out.
        package var merges: [CloudMergeLogEntry] = []
    }

    /// The data of one user.
    package struct Account: Sendable {
        package let number: Int64
        package let isCurrent: Bool
        package var databases: [Database]
    }

    /// The data of one cloud database of a user.
    package struct Database: Sendable {
        /// The app's identifier; nil is the private database of the default container.
        package let identifier: String?
        /// The user, if known.
        package var userRecordName: String?
        package var subscriptionID: String?
        package var changeSetsCount: Int
        package var inFlightCount: Int
        /// Number of pending changes, without quarantined ones.
        package var changesCount: Int
        package var quarantinedCount: Int
        /// The first change-sets of the queue.
        package var changeSets: [ChangeSet]
        /// The first quarantined changes, in any change-set.
        package var quarantined: [Change]
        package var zones: [Zone]
        package var zonesCount: Int
        /// Number of records of unknown types, in all zones.
        package var stashedCount: Int
        /// The newest first.
        package var errors: [KeptError]
    }

    /// The changes of one commit.
    package struct ChangeSet: Sendable {
        package let sequence: Int64
        package let uuid: String
        package let isInFlight: Bool
        package var changes: [Change]
        package var changesCount: Int
    }

    package struct Change: Sendable {
        package let zone: CKRecordZone.ID
        package let recordName: String
        package let recordType: String
        package let changeTag: String?
        package let isDeletion: Bool
        /// The changed fields. Those in `restoredKeys` are requested from the app when they are needed.
        package let keys: [String]
        package let restoredKeys: [String]
        package let problem: CloudSyncProblem?
        /// The change of each field, ordered by the fields' names; empty if no values are read.
        package var values: [FieldChange] = []
    }

    /// One field before and after a change. Values are shortened as in the merge log.
    package struct FieldChange: Sendable {
        package enum Value: Sendable {
            /// The field has no value.
            case none
            case words(String)
            /// The file doesn't have the value; the app's object does.
            case ofObject
            /// The value isn't kept.
            case unknown
            /// The value is left out, because `Limits.valueBytesOfAllMax` is used up.
            case leftOut
        }

        package let key: String
        package let before: Value
        package let after: Value
    }

    package struct Zone: Sendable {
        package let zoneID: CKRecordZone.ID
        package var token: String?
        /// Why all records are being fetched again.
        package var fullFetch: String?
        package var recordsCount = 0
        /// Number of records that the server has, as far as this device knows.
        package var taggedCount = 0
        package var records: [Record] = []
        package var stashed: [Record] = []
        /// Checksum of the zone at the token, or nil if not all of its records are counted.
        package var checksum: String?
        /// Number of times that the zone was found to differ from the server's.
        package var differencesCount = 0
        /// Whether the zone differs although all its records were fetched again.
        package var differs = false
    }

    package struct Record: Sendable {
        package let recordName: String
        package let recordType: String
        package let changeTag: String?
        /// Number of rows of the app that belong to the record.
        package var ownerCount: Int64 = 0
        package var generation: Int64 = 0
    }

    package struct KeptError: Sendable {
        package let atMilliseconds: Int64
        package let code: Int
        package let message: String
    }

    /// Limits of what is read.
    package struct Limits: Sendable {
        /// Change-sets of each database.
        package var changeSetsMax = 20
        /// Changes of each change-set, quarantined changes, and errors.
        package var changesMax = 20
        /// Records of each zone; 0 only counts them.
        package var recordsMax = 0
        /// Changes of all change-sets together.
        package var changesOfAllMax = Int.max
        /// Bytes of the values of all changes together; 0 reads no values.
        package var valueBytesOfAllMax = 0
        /// Entries of the merge log; 0 only counts them.
        package var mergesMax = 0
        /// Zones of each database.
        package var zonesMax = Int.max
        /// Records of unknown types of each database.
        package var stashedMax = Int.max

        package init() {}
    }
}

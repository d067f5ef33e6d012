package import CloudKit

/// What the sync keeps in a database's file, read without taking part in it.
package struct SyncInspection: Sendable {
    package let path: String
    /// The number of the newest commit that was seen.
    package let snapshot: UInt64
    /// The extensions that are no sync, by their names.
    package let otherExtensions: [String]
    package let registrations: [Registration]

    /// The sync under one registered name.
    package struct Registration: Sendable {
        package let name: String
        /// The version of the tables.
        package let classVersion: Int
        /// The version of the app's handler.
        package let versionTag: String
        /// What the tables hold; nil when they are of a version that this program doesn't read.
        package var content: Content?
    }

    package struct Content: Sendable {
        package var accounts: [Account]
        /// How many decisions of merges the app has not heard of.
        package var untoldMerges: Int
        /// The newest of them, the newest first; those that can't be read are left out.
        package var merges: [CloudMergeLogEntry] = []
    }

    /// What belongs to one user.
    package struct Account: Sendable {
        package let number: Int64
        package let isCurrent: Bool
        package var databases: [Database]
    }

    /// What belongs to one cloud database of a user.
    package struct Database: Sendable {
        /// The app's name for it; nil is the private database of the default container.
        package let identifier: String?
        /// Whose, as far as it is known.
        package var userRecordName: String?
        package var subscriptionID: String?
        package var changeSetsCount: Int
        package var inFlightCount: Int
        /// The changes that wait, without those put aside.
        package var changesCount: Int
        package var quarantinedCount: Int
        /// The first change-sets of the queue.
        package var changeSets: [ChangeSet]
        /// The first changes that were put aside, wherever in the queue they stand.
        package var quarantined: [Change]
        package var zones: [Zone]
        package var zonesCount: Int
        /// The records of unknown types, of all zones.
        package var stashedCount: Int
        /// The newest first.
        package var errors: [KeptError]
    }

    /// What one commit changed.
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
        /// The changed fields; those in `restoredKeys` are asked of the app when they are needed.
        package let keys: [String]
        package let restoredKeys: [String]
        package let problem: CloudSyncProblem?
        /// What the change makes of each field, in the order of the fields; empty where no values are read.
        package var values: [FieldChange] = []
    }

    /// One field before and after a change. Values are cut as those of the merge log.
    package struct FieldChange: Sendable {
        package enum Value: Sendable {
            /// The field has none.
            case none
            case words(String)
            /// The file has none: it is the app's object that has it.
            case ofObject
            /// It isn't kept.
            case unknown
            /// It is left out, since `Limits.valueBytesOfAllMax` is used up.
            case leftOut
        }

        package let key: String
        package let before: Value
        package let after: Value
    }

    package struct Zone: Sendable {
        package let zoneID: CKRecordZone.ID
        package var token: String?
        /// Why everything is being fetched again.
        package var fullFetch: String?
        package var recordsCount = 0
        /// How many of the records the server has, as far as is known here.
        package var taggedCount = 0
        package var records: [Record] = []
        package var stashed: [Record] = []
        /// What the zone comes to at the token; nil when not all its records are counted.
        package var checksum: String?
        /// How often it was found to differ from the server's.
        package var differencesCount = 0
        /// Whether it differs although it was fetched anew.
        package var differs = false
    }

    package struct Record: Sendable {
        package let recordName: String
        package let recordType: String
        package let changeTag: String?
        /// How many rows of the app stand for it.
        package var ownerCount: Int64 = 0
        package var generation: Int64 = 0
    }

    package struct KeptError: Sendable {
        package let atMilliseconds: Int64
        package let code: Int
        package let message: String
    }

    /// How much is read.
    package struct Limits: Sendable {
        /// The change-sets of each database.
        package var changeSetsMax = 20
        /// The changes of each change-set, those put aside, and the errors.
        package var changesMax = 20
        /// The records of each zone; 0 only counts them.
        package var recordsMax = 0
        /// The changes of all change-sets together.
        package var changesOfAllMax = Int.max
        /// The bytes of the values of all changes together; 0 reads no values.
        package var valueBytesOfAllMax = 0
        /// The entries of the merge log; 0 only counts them.
        package var mergesMax = 0
        /// The zones of each database.
        package var zonesMax = Int.max
        /// The records of unknown types of each database.
        package var stashedMax = Int.max

        package init() {}
    }
}

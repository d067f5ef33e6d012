public import CloudKit

/// What one commit changed in one cloud database, by names only: nothing is loaded, and no handler is asked.
public struct YDBCKChangeSetSummary: Sendable, Hashable {
    /// Names the change-set for as long as it waits.
    public let uuid: String
    /// Which cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// Whether an operation has something of it just now.
    public let isInFlight: Bool
    /// The identities of the records to save.
    public let recordIDsToSave: [CKRecord.ID]
    /// The identities of the records to delete.
    public let recordIDsToDelete: [CKRecord.ID]
    let sequence: Int64
}

/// A change that was put aside: it is kept and not sent, and nothing later of its record overtakes it.
///
/// A new change of the record takes its values along and is sent; `YapDatabaseCloudKit.retry()` tries all again;
/// `discardQuarantinedChanges(forRecordID:databaseIdentifier:)` gives it up.
public struct YDBCKQuarantinedChange: Sendable, Hashable {
    /// The record.
    public let recordID: CKRecord.ID
    /// Which cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// The change-set that it waits in.
    public let changeSetUUID: String
    /// Whether the record was to be deleted.
    public let isDeletion: Bool
    /// The names of the changed values, as far as they can be read.
    public let keys: [String]
    /// Why.
    public let reason: CloudSyncProblem
}

public import CloudKit

/// What one commit changed in one cloud database, by names only. No values are loaded, and the record handler isn't
/// called.
public struct YDBCKChangeSetSummary: Sendable, Hashable {
    /// Identifier of the change-set while it is pending.
    public let uuid: String
    /// Identifier of the cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// Whether an operation is sending a part of it.
    public let isInFlight: Bool
    /// The identities of the records to save.
    public let recordIDsToSave: [CKRecord.ID]
    /// The identities of the records to delete.
    public let recordIDsToDelete: [CKRecord.ID]
    let sequence: Int64
}

/// A quarantined change: it is kept and not sent, and later changes of its record aren't sent before it.
///
/// A new change of the record takes over its values and is sent. `YapDatabaseCloudKit.retry()` sends all quarantined
/// changes again. `discardQuarantinedChanges(forRecordID:databaseIdentifier:)` discards it.
public struct YDBCKQuarantinedChange: Sendable, Hashable {
    /// The record.
    public let recordID: CKRecord.ID
    /// Identifier of the cloud database; nil is the private database of the default container.
    public let databaseIdentifier: String?
    /// Identifier of the change-set that contains it.
    public let changeSetUUID: String
    /// Whether the record was to be deleted.
    public let isDeletion: Bool
    /// Names of the changed fields, as far as they can be read.
    public let keys: [String]
    /// Reason of the quarantine.
    public let reason: CloudSyncProblem
}

package import CloudKit

/// What the engine wants done. Each action but `tell`, `status`, `wake` and `listen` ends in one event
/// about its database.
package enum SyncAction: Sendable {
    /// Send the head of the queue, at most so many items of it.
    case send(DatabaseKey, itemsMax: Int)
    /// Write the results of a batch into the device's database, all in one transaction.
    case complete(DatabaseKey, SyncCompletion)
    /// Fetch the next page of a zone's changes, and apply it with its token in one transaction.
    case fetch(DatabaseKey, CKRecordZone.ID)
    case createZone(DatabaseKey, CKRecordZone.ID)
    /// Listen to the database's notifications from now on.
    case listen(DatabaseKey)
    /// Save the subscription to the database, and keep that it is saved.
    case subscribe(DatabaseKey)
    /// Forget the zone's token; the full fetch that follows finds out what is gone.
    case dropToken(DatabaseKey, CKRecordZone.ID, ChangeTokenRefusal)
    /// Lift all refusals, so that these changes are sent again.
    case liftRefusals(DatabaseKey)
    /// Send `tick` at this time. Replaces the wake before it; nil cancels it.
    case wake(atMilliseconds: Int64?)
    /// Hand the error to the app.
    case tell(DatabaseKey, CKError)
    case status(CloudSyncStatus)
}

/// What the answer to a batch means for the queue.
package struct SyncCompletion: Sendable {
    /// The server took these: with the record's new system fields.
    package var saved: [(item: SyncItem, record: CKRecord)] = []
    /// These deletions are done.
    package var deleted: [SyncItem] = []
    /// Another device was first: merge with what the server has.
    package var conflicts: [(item: SyncItem, server: CKRecord)] = []
    /// Another device deleted the record.
    package var recreated: [SyncItem] = []
    /// The server will not take these; `isStuck` when a conflict never settled.
    package var refused: [(item: SyncItem, error: CKError, isStuck: Bool)] = []

    package init() {}

    /// Whether nothing of the batch came any further.
    package var isEmpty: Bool {
        saved.isEmpty && deleted.isEmpty && conflicts.isEmpty && recreated.isEmpty && refused.isEmpty
    }
}

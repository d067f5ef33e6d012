package import CloudKit

/// What the engine wants done.
package enum SyncAction: Sendable {
    /// Do this. It ends in one event about the database, with the attempt's number.
    case begin(SyncWork, DatabaseKey, attempt: Int)
    /// The attempt took too long and counts as lost: end what it left running.
    case cancel(DatabaseKey, attempt: Int)
    /// Count the queues.
    case count
    /// Listen to the database's notifications from now on.
    case listen(DatabaseKey)
    /// Send `tick` at this time. Replaces the wake before it; nil cancels it.
    case wake(atMilliseconds: Int64?)
    /// Hand the error to the app.
    case tell(DatabaseKey, CKError)
    /// Tell those who watch.
    case announce(YapDatabaseCloudKit.Event)
    case status(CloudSyncStatus)
}

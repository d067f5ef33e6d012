package import CloudKit

/// An action that the engine requests.
package enum SyncAction: Sendable {
    /// Carry out this work. It ends with one event about the database, with the attempt's number.
    case begin(SyncWork, DatabaseKey, attempt: Int)
    /// Cancel what the attempt left running: it took too long and counts as lost.
    case cancel(DatabaseKey, attempt: Int)
    /// Count the queues.
    case count
    /// Listen to the database's notifications from now on.
    case listen(DatabaseKey)
    /// Post `tick` at this time. Replaces the previous wake; nil cancels it.
    case wake(atMilliseconds: Int64?)
    /// Store the error, and hand it to the app.
    case report(DatabaseKey, CKError)
    /// Yield the event to the app's observers.
    case announce(YapDatabaseCloudKit.Event)
    /// Report the status.
    case status(CloudSyncStatus)
}

public import CloudKit
public import Foundation

/// How far the sync is. It is `idle` only when nothing waits to be delivered.
public enum CloudSyncStatus: Hashable, Sendable {
    /// Everything that was committed here is on the server, and what the server had when it was last asked is
    /// here.
    case idle
    /// Something is being sent or fetched; so many changes wait in the queue, as far as they are counted.
    case syncing(pending: Int)
    /// Work waits: until a time, or until something happens that has no time (`nil`).
    case waiting(until: Date?, because: CloudSyncPause)
    /// Work can't be delivered before the app or the user does something.
    case needsAttention([CloudSyncProblem])
}

/// Why work waits.
public enum CloudSyncPause: Hashable, Sendable {
    /// `suspend()` was called more often than `resume()`.
    case suspended
    /// There is no network, or it failed on the way.
    case network
    /// The server asked for a pause, or isn't available.
    case server(CKError.Code)
    /// Another process has the database open and syncs it, or will: this one only records.
    case otherProcess
    /// The change could not be written to the device's own database.
    case localDatabase
    /// All of the account in use is delivered; changes of another account wait for its user to be signed in and in use
    /// again.
    case anotherAccount
}

/// What keeps work from being delivered.
public enum CloudSyncProblem: Hashable, Sendable {
    /// Nobody is signed in, or the account can't be used.
    case account(CKError.Code)
    /// Another user is signed in than the one whose objects these are: nothing is sent or fetched before that one is
    /// signed in again. Another user's objects belong in another database.
    case anotherUser
    /// The user's storage in the cloud is full. Deletions free some.
    case quotaExceeded
    /// The user deleted the zone on purpose. `retry()` makes it again and uploads what is here.
    case zoneDeletedByUser(zoneName: String)
    /// The container, the database or the app is not set up for this.
    case configuration(CKError.Code, message: String)
    /// The server's certificate can't be trusted: nothing is sent to whoever that is. It is tried again as without a
    /// network.
    case untrustedServer(message: String)
    /// The server's address begins with `https://` for a port of plain HTTP, or with `http://` for one of TLS. It is
    /// tried again as without a network.
    case wrongAddress(message: String)
    /// No database was given for the identifier.
    case unknownDatabase(identifier: String?)
    /// The server refuses this record's change, for this reason as the server worded it; nil where it gave none. The
    /// change is kept; a new change of the record, or `retry()`, sends it again.
    case refused(recordName: String, CKError.Code, reason: String? = nil)
    /// The same conflict came back again and again: the merge does not settle it. Kept as a refused change
    /// is.
    case stuck(recordName: String)
    /// These values of the record's change can't be found any more: the queue kept only their names, and the record
    /// handler doesn't give them back, or the row is gone. Kept as a refused change is; setting the values again
    /// sends them.
    case unrestorable(recordName: String, keys: [String])
    /// What the queue holds of the record's change can't be read. It is kept for inspection; everything else goes on.
    case damaged(recordName: String)
    /// What is here of the zone is not what the server has, and fetching it anew didn't mend that. Everything else
    /// goes on, and the zone is fetched anew from time to time.
    case zoneDiffers(zoneName: String)
}

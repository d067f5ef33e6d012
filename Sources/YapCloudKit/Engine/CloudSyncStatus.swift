public import CloudKit
public import Foundation

/// How far the sync of the account in use is, at one moment.
///
/// ```swift
/// for await status in sync.status {
///     icon.name = status.state == .needsAttention ? "warning" : "cloud"
///     label.text = status.summary
/// }
/// ```
/// The other values don't hide one another: while a refused change is in `problems`, `pendingCount` still counts the
/// changes that wait, and `pause` still says that there is no network.
///
/// Equality compares all values, `lastResponseDate` too. A change of that date alone is no new element of
/// `CloudSync.status`.
public struct CloudSyncStatus: Hashable, Sendable {
    /// The status in one word, for example for an icon. It follows from the other values.
    public enum State: Hashable, Sendable {
        /// Everything that was committed here is on the server, and what the server had when it was last asked is
        /// here.
        case idle
        /// Something is being sent or fetched. Problems of other records are in `problems` meanwhile.
        case syncing
        /// Work waits: until `pauseEndDate`, or until what `pause` names is over.
        case waiting
        /// There are problems: their part of the work isn't delivered before the app or the user does something. The
        /// rest goes on, or waits as `pause` says.
        case needsAttention
    }

    /// Whether something is being sent or fetched.
    var isSyncing: Bool
    /// Number of changes in the queue that can be sent, as far as they are counted. Quarantined changes and those of
    /// other accounts aren't among them.
    public let pendingCount: Int
    /// Why work waits; nil while none does. When several databases wait, it is the pause that ends first.
    public let pause: CloudSyncPause?
    /// When `pause` ends; nil if it ends by an event and not by time.
    public let pauseEndDate: Date?
    /// What needs the app or the user. Of refused records the first 100 of a database are listed.
    public let problems: [CloudSyncProblem]
    /// When the server last responded to the sync or sent it a notification; nil if it hasn't since the process
    /// started. A refusal is a response, a network error isn't.
    ///
    /// A device that listens for notifications gets a response every 25 seconds or so, also while nothing changes, so
    /// an older date means that the server can't be reached. Read it from `CloudSync.currentStatus`: the stream has no
    /// new element when only this date changes. The date isn't stored: that would be a write to the disk for each
    /// response, and a sync fetches when it starts.
    public internal(set) var lastResponseDate: Date?

    /// Makes a status, for previews and tests of an app's own views.
    ///
    /// - Parameters:
    ///   - isSyncing: Whether something is being sent or fetched.
    ///   - pendingCount: Number of changes that wait in the queue.
    ///   - pause: Why work waits.
    ///   - pauseEndDate: When the pause ends. Ignored without a pause.
    ///   - problems: What needs the app or the user.
    ///   - lastResponseDate: When the server last responded.
    public init(
        isSyncing: Bool = false, pendingCount: Int = 0, pause: CloudSyncPause? = nil,
        pauseEndDate: Date? = nil, problems: [CloudSyncProblem] = [], lastResponseDate: Date? = nil
    ) {
        self.isSyncing = isSyncing
        self.pendingCount = max(0, pendingCount)
        self.pause = pause
        self.pauseEndDate = pause == nil ? nil : pauseEndDate
        self.problems = problems
        self.lastResponseDate = lastResponseDate
    }

    /// The status in one word. It is `idle` only when nothing waits to be delivered.
    public var state: State {
        if isSyncing { return .syncing }
        if !problems.isEmpty { return .needsAttention }
        return pause != nil || pendingCount > 0 ? .waiting : .idle
    }

    /// Whether more than `lastResponseDate` differs.
    func differs(from other: CloudSyncStatus?) -> Bool {
        guard var other else { return true }
        other.lastResponseDate = lastResponseDate
        return self != other
    }
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

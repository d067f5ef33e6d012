public import CloudKit
public import Foundation

/// The sync status of the account in use, at one moment.
///
/// ```swift
/// for await status in sync.status {
///     icon.name = status.state == .needsAttention ? "warning" : "cloud"
///     label.text = status.summary
/// }
/// ```
/// The values are independent: while a quarantined change is in `problems`, `pendingCount` still counts the pending
/// changes, and `pause` still reports a missing network.
///
/// Equality compares all values, including `lastResponseDate`. A change of that date alone is no new element of
/// `CloudSync.status`.
public struct CloudSyncStatus: Hashable, Sendable {
    /// The status in one word, for example for an icon. It follows from the other values.
    public enum State: Hashable, Sendable {
        /// Everything that was committed on this device is on the server, and everything that the server had at the
        /// last fetch is on this device.
        case idle
        /// Something is being sent or fetched. Meanwhile, problems of other records are in `problems`.
        case syncing
        /// Work waits: until `pauseEndDate`, or until the reason in `pause` no longer applies.
        case waiting
        /// There are problems. A part of the work isn't delivered until the app or the user solves them. The rest goes
        /// on, or waits as `pause` describes.
        case needsAttention
    }

    /// Whether something is being sent or fetched.
    var isSyncing: Bool
    /// Number of changes in the queue that can be sent, as far as they are counted. Quarantined changes and changes of
    /// other accounts aren't included.
    public let pendingCount: Int
    /// Why work waits, or nil if it doesn't. If several databases wait, it is the pause that ends first.
    public let pause: CloudSyncPause?
    /// When `pause` ends, or nil if it ends with an event and not at a time.
    public let pauseEndDate: Date?
    /// The problems that the app or the user must solve. Up to 100 quarantined records of a database are listed.
    public let problems: [CloudSyncProblem]
    /// When the server last responded to the sync or sent it a notification, or nil if it hasn't since the process
    /// started. An error that the server sent is a response, a network error isn't.
    ///
    /// A device that listens for notifications gets a response about every 25 seconds, even if nothing changes, so an
    /// older date means that the server can't be reached. Read it from `CloudSync.currentStatus`: the stream has no new
    /// element if only this date changes. The date isn't stored, because that would write to the disk after each
    /// response.
    public internal(set) var lastResponseDate: Date?

    /// Creates a status, for previews and tests of an app's views.
    ///
    /// - Parameters:
    ///   - isSyncing: Whether something is being sent or fetched.
    ///   - pendingCount: Number of pending changes in the queue.
    ///   - pause: Why work waits.
    ///   - pauseEndDate: When the pause ends. Ignored without a pause.
    ///   - problems: The problems that the app or the user must solve.
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

    /// The status in one word. It is `idle` only if nothing is pending.
    public var state: State {
        if isSyncing { return .syncing }
        if !problems.isEmpty { return .needsAttention }
        return pause != nil || pendingCount > 0 ? .waiting : .idle
    }

    /// Returns true if another value than `lastResponseDate` differs.
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
    /// There is no network, or a request failed in the network.
    case network
    /// The server requested a pause, or isn't available.
    case server(CKError.Code)
    /// Another process has the database open and syncs it, or will. This process only records changes.
    case otherProcess
    /// The change could not be written to the database on this device.
    case localDatabase
    /// All changes of the current account are delivered. Changes of another account are pending until its user is
    /// signed in and current again.
    case anotherAccount
}

/// A problem that prevents the delivery of changes.
public enum CloudSyncProblem: Hashable, Sendable {
    /// No user is signed in, or the account can't be used.
    case account(CKError.Code)
    /// The signed-in user isn't the owner of these objects. Nothing is sent or fetched until the owner is signed
    /// in again. Another user's objects belong in another database.
    case anotherUser
    /// The user's storage in the cloud is full. Deletions free storage.
    case quotaExceeded
    /// The user deleted the zone on purpose. `retry()` creates it again and uploads the objects of this device.
    case zoneDeletedByUser(zoneName: String)
    /// The container, the database or the app is not configured for the sync.
    case configuration(CKError.Code, message: String)
    /// The server's certificate can't be trusted. Nothing is sent. The sync tries again as without a network.
    case untrustedServer(message: String)
    /// The server's address begins with `https://` for a port of plain HTTP, or with `http://` for one of TLS. The sync
    /// tries again as without a network.
    case wrongAddress(message: String)
    /// The app returned no database for the identifier.
    case unknownDatabase(identifier: String?)
    /// The server rejects this record's change. The reason is the server's text, or nil if it sent none. The change is
    /// quarantined; a new change of the record, or `retry()`, sends it again.
    case refused(recordName: String, CKError.Code, reason: String? = nil)
    /// The same conflict came back several times: the merge doesn't resolve it. The change is quarantined.
    case stuck(recordName: String)
    /// These values of the record's change are missing: the queue kept only their names, and the record handler doesn't
    /// return them, or the row was removed. The change is quarantined; setting the values again sends them.
    case unrestorable(recordName: String, keys: [String])
    /// The record's change in the queue can't be read. It is kept for inspection. Other changes are sent.
    case damaged(recordName: String)
    /// The records of the zone on this device differ from the server's, also after all of them were fetched again. The
    /// sync goes on, and fetches the whole zone from time to time.
    case zoneDiffers(zoneName: String)
}

package import CloudKit

/// An event for the engine. Events from outside (`follow`, `remoteChange`, `listen`, `listening`, `pushed`) are about
/// the account in use, whichever account their key has.
package enum SyncEvent: Sendable {
    /// The queue of a database was counted: at the start, and after each commit that changed it.
    case counted(DatabaseKey, QueueCount)
    /// An earlier process sent a batch, and didn't write its result.
    case unanswered(DatabaseKey)
    /// The queues could not be counted.
    case countFailed(message: String)
    /// The account that is synced from now on. `isFetched` if each of its zones has a token.
    case useAccount(Int64, isFetched: Bool)
    /// Follow a zone: fetch its changes, and create it first if the device never saw it.
    case follow(DatabaseKey, CKRecordZone.ID, mayBeMissing: Bool)
    /// A zone may have changed: a notification came, or the app requests a fetch.
    case remoteChange(DatabaseKey, CKRecordZone.ID)
    /// Listen to a database's changes. `isSaved` if an earlier process saved its subscription.
    case listen(DatabaseKey, isSaved: Bool)
    /// The subscription was saved, which is noted in the device's database.
    case subscribed(DatabaseKey, QueueCount)
    case subscribeFailed(DatabaseKey, CKError)
    /// Listening to other devices' changes has begun. Earlier changes may not be reported. If `wasForgotten`, the
    /// server no longer knew the device.
    case listening(DatabaseKey, wasForgotten: Bool)
    /// Another device changed the database.
    case pushed(DatabaseKey)
    /// A batch has a reply.
    case sent(DatabaseKey, SendReply)
    /// A page of changes was written to the device's database.
    case pageApplied(DatabaseKey, CKRecordZone.ID, moreComing: Bool, QueueCount)
    /// Version of the server's schema when a page was fetched; an opaque text.
    case schemaVersion(DatabaseKey, String)
    case fetchFailed(DatabaseKey, CKRecordZone.ID, CKError)
    /// A zone was created, or creating it failed.
    case zoneCreated(DatabaseKey, CKRecordZone.ID, CKError?)
    /// Local work was written to the device's database.
    case applied(DatabaseKey, QueueCount)
    /// The queue had nothing that can be sent.
    case nothingToSend(DatabaseKey, QueueCount)
    /// The device's database failed. Nothing of the step was written.
    case localFailure(DatabaseKey, message: String)
    /// The app returned no database for the identifier.
    case unknownDatabase(DatabaseKey)
    /// The work was not done: another user is signed in than the owner of the queued changes.
    case anotherUser(DatabaseKey)
    /// Whether this process holds the lock between processes, and so syncs the database.
    case processLock(isHeld: Bool)
    /// The suspend count was changed. `isMisuse` if it would have fallen below 0.
    case suspendCount(Int, isMisuse: Bool)
    /// The network may be back.
    case networkMayBeBack
    /// A caller wants pauses for the network to end.
    case networkPauseEnds
    /// Changes that the server found invalid must be sent once more.
    case retryInvalid
    /// A user signed in or out.
    case accountChanged
    /// The app wants everything that needed attention to be tried again.
    case retry
    /// The time of a wake has come.
    case tick
}

extension SyncEvent {
    /// The database of the server that responded or sent a notification, or nil.
    var respondedDatabase: DatabaseKey? {
        switch self {
        case .pageApplied(let key, _, _, _), .subscribed(let key, _), .listening(let key, _),
            .pushed(let key):
            key
        case .sent(let key, let reply): reply.isServerResponse ? key : nil
        case .zoneCreated(let key, _, let error): error?.isServerResponse ?? true ? key : nil
        case .fetchFailed(let key, _, let error), .subscribeFailed(let key, let error):
            error.isServerResponse ? key : nil
        default: nil
        }
    }

    /// Whether the event is about the account in use, whichever account its key has.
    var isFromOutside: Bool {
        switch self {
        case .listening, .pushed: true
        default: false
        }
    }

    /// The queue of a database after a write of the sync itself, or nil if the event has no count.
    var countAfterWrite: (key: DatabaseKey, count: QueueCount)? {
        switch self {
        case .applied(let key, let count), .nothingToSend(let key, let count),
            .subscribed(let key, let count),
            .pageApplied(let key, _, _, let count):
            (key, count)
        default: nil
        }
    }
}

/// The counts of a database's queue.
package struct QueueCount: Hashable, Sendable {
    /// Maximum number of quarantined records that are listed.
    package static let quarantinedListedMax = 100

    /// Changes that can be sent.
    package var pending: Int
    /// Change-sets, including those in flight.
    package var changeSets: Int
    /// Change-sets with a part that an operation has sent.
    package var inFlightChangeSets: Int
    /// Changes that are quarantined: the server rejects them, or they can't be sent.
    package var quarantinedCount: Int
    /// The first of them, one for each record.
    package var quarantined: [CloudSyncProblem]
    /// The zones that differ from the server's although all their records were fetched again.
    package var differingZones: [CloudSyncProblem] = []
    /// The zones that must be fetched before anything is sent: those with an unfinished full fetch, and those that were
    /// never fetched. A first fetch doesn't report deletions, so a record that was sent before it and deleted by
    /// another device would be created again.
    package var zonesToFetchFirst: [CKRecordZone.ID] = []
    /// When the queue was counted, in an order that all counts of a database share.
    package var moment = CountMoment.unknown

    package init(
        pending: Int = 0, changeSets: Int = 0, inFlightChangeSets: Int = 0, quarantinedCount: Int = 0,
        quarantined: [CloudSyncProblem] = []
    ) {
        self.pending = pending
        self.changeSets = changeSets
        self.inFlightChangeSets = inFlightChangeSets
        self.quarantinedCount = quarantinedCount
        self.quarantined = quarantined
    }
}

/// The moment of a count. Two threads count, and the later count may be reported first.
package struct CountMoment: Hashable, Comparable, Sendable {
    /// Before all others.
    package static let unknown = CountMoment(start: 0, snapshot: 0, isWriting: false)

    private let start: Int
    private let snapshot: UInt64
    private let isWriting: Bool

    private init(start: Int, snapshot: UInt64, isWriting: Bool) {
        (self.start, self.snapshot, self.isWriting) = (start, snapshot, isWriting)
    }

    /// Returns the moment of a count in a read transaction.
    ///
    /// - Parameters:
    ///   - snapshot: Number of the newest commit that the transaction sees.
    ///   - start: Number of the sync's start. Each start may have another database.
    package static func reading(snapshot: UInt64, start: Int = 1) -> CountMoment {
        CountMoment(start: start, snapshot: snapshot, isWriting: false)
    }

    /// Returns the moment of a count in a write transaction: after all that see the same commit, and before all
    /// that see the next.
    ///
    /// - Parameters:
    ///   - snapshot: Number of the commit that the transaction began with.
    ///   - start: As for `reading`.
    package static func writing(onTopOf snapshot: UInt64, start: Int = 1) -> CountMoment {
        CountMoment(start: start, snapshot: snapshot, isWriting: true)
    }

    package static func < (left: CountMoment, right: CountMoment) -> Bool {
        (left.start, left.snapshot, left.isWriting ? 1 : 0)
            < (right.start, right.snapshot, right.isWriting ? 1 : 0)
    }
}

/// The result of a batch: a result for each item, and the error of the whole batch, if there is one.
package struct SendReply: Sendable {
    package enum Outcome: Sendable {
        case saved(CKRecord)
        case deleted
        case failed(CKError)
    }

    package var items: [(item: SyncItem, outcome: Outcome)]
    package var error: CKError?

    package init(items: [(item: SyncItem, outcome: Outcome)], error: CKError? = nil) {
        self.items = items
        self.error = error
    }

    package init(all items: [SyncItem], failedWith error: CKError) {
        self.items = items.map { ($0, .failed(error)) }
        self.error = error
    }
}

package import CloudKit

/// What happened, as the engine is told of it. What comes from outside (`follow`, `remoteChange`, `listen`,
/// `listening`, `pushed`) is about the account in use, whatever the key says.
package enum SyncEvent: Sendable {
    /// The queue of a database was counted: at the start, and after each commit that touched it.
    case counted(DatabaseKey, QueueCount)
    /// A batch went out in an earlier run, and its answer was not written down.
    case unanswered(DatabaseKey)
    /// The queues could not be counted.
    case countFailed(message: String)
    /// The account whose databases are synced from now on; `isFetched` when each of its zones has a token.
    case useAccount(Int64, isFetched: Bool)
    /// A zone is to be followed: its changes are fetched, and it is made first if the device never saw it.
    case follow(DatabaseKey, CKRecordZone.ID, mayBeMissing: Bool)
    /// Something says that a zone changed: a push, or the app asks.
    case remoteChange(DatabaseKey, CKRecordZone.ID)
    /// A database's changes are to be heard of; `isSaved` when its subscription was saved in an earlier run.
    case listen(DatabaseKey, isSaved: Bool)
    /// The subscription was saved, and that is kept in the device's database.
    case subscribed(DatabaseKey, QueueCount)
    case subscribeFailed(DatabaseKey, CKError)
    /// From now on other devices' changes are heard of; what they changed before may not be told. The server had
    /// forgotten the device when `wasForgotten`.
    case listening(DatabaseKey, wasForgotten: Bool)
    /// Another device changed something in the database.
    case pushed(DatabaseKey)
    /// A batch was answered.
    case sent(DatabaseKey, SendReply)
    /// A page of changes lies in the device's database.
    case pageApplied(DatabaseKey, CKRecordZone.ID, moreComing: Bool, QueueCount)
    /// The version of the server's schema, an opaque text, as it was when a page was fetched.
    case schemaVersion(DatabaseKey, String)
    case fetchFailed(DatabaseKey, CKRecordZone.ID, CKError)
    /// A zone was made, or not.
    case zoneCreated(DatabaseKey, CKRecordZone.ID, CKError?)
    /// What had to be written into the device's database was.
    case applied(DatabaseKey, QueueCount)
    /// Nothing in the queue could go.
    case nothingToSend(DatabaseKey, QueueCount)
    /// The device's own database failed; nothing of the step was kept.
    case localFailure(DatabaseKey, message: String)
    /// No database is known for the identifier.
    case unknownDatabase(DatabaseKey)
    /// What was to be done was not: another user is signed in than the one whose changes are in the queue.
    case anotherUser(DatabaseKey)
    /// Whether this process syncs, of those that have the database open.
    case processLock(isHeld: Bool)
    /// The suspend count was changed; `isMisuse` when it was to go below 0.
    case suspendCount(Int, isMisuse: Bool)
    /// The network may be back.
    case networkMayBeBack
    /// Somebody asks for what waits for the network.
    case networkPauseEnds
    /// Changes that the server refused as invalid are to be tried once more.
    case retryInvalid
    /// Somebody signed in or out.
    case accountChanged
    /// The app asks to try everything again that needed attention.
    case retry
    /// Time has passed.
    case tick
}

extension SyncEvent {
    /// The database whose server responded or notified; nil for an event without that.
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

    /// Whether it is about the account in use, whatever its key says.
    var isFromOutside: Bool {
        switch self {
        case .listening, .pushed: true
        default: false
        }
    }

    /// The queue of a database after a write of the sync itself; nil for an event that reports none.
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

/// What is in a database's queue.
package struct QueueCount: Hashable, Sendable {
    /// The most refused records that are named.
    package static let quarantinedListedMax = 100

    /// Changes that can be sent.
    package var pending: Int
    /// Change-sets, those in flight among them.
    package var changeSets: Int
    /// Change-sets that an operation has something of.
    package var inFlightChangeSets: Int
    /// Changes that were put aside: the server refused them, or they can't be sent.
    package var quarantinedCount: Int
    /// The first of them, one for a record.
    package var quarantined: [CloudSyncProblem]
    /// The zones that differ from the server's although they were fetched anew.
    package var differingZones: [CloudSyncProblem] = []
    /// The zones that are being fetched in full, where nothing is sent before that ends, and those that were never
    /// fetched from: a first fetch doesn't show deletions, so a record that was sent before it and deleted by another
    /// device would be made again.
    package var zonesToFetchFirst: [CKRecordZone.ID] = []
    /// When it was counted, in an order that all counts of a database share: see `CountMoment`.
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

/// The moment of a count. Two threads count, and the later count may be told first.
package struct CountMoment: Hashable, Comparable, Sendable {
    /// Before all others.
    package static let unknown = CountMoment(start: 0, snapshot: 0, isWriting: false)

    private let start: Int
    private let snapshot: UInt64
    private let isWriting: Bool

    private init(start: Int, snapshot: UInt64, isWriting: Bool) {
        (self.start, self.snapshot, self.isWriting) = (start, snapshot, isWriting)
    }

    /// In a transaction that reads.
    ///
    /// - Parameters:
    ///   - snapshot: The number of the newest commit that the transaction sees.
    ///   - start: How often the sync was started, each time with a database that may be another.
    package static func reading(snapshot: UInt64, start: Int = 1) -> CountMoment {
        CountMoment(start: start, snapshot: snapshot, isWriting: false)
    }

    /// In a transaction that writes: after all that see the same commit, and before all that see the next.
    ///
    /// - Parameters:
    ///   - snapshot: The number of the commit that the transaction began with.
    ///   - start: As for `reading`.
    package static func writing(onTopOf snapshot: UInt64, start: Int = 1) -> CountMoment {
        CountMoment(start: start, snapshot: snapshot, isWriting: true)
    }

    package static func < (left: CountMoment, right: CountMoment) -> Bool {
        (left.start, left.snapshot, left.isWriting ? 1 : 0)
            < (right.start, right.snapshot, right.isWriting ? 1 : 0)
    }
}

/// The answer to a batch: a result for each item, and the error of the whole, if there was one.
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

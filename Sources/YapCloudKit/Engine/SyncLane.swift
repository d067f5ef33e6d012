internal import CloudKit

/// The engine's knowledge of one database. Databases don't wait for one another.
struct SyncLane {
    enum Work: Hashable {
        case sending
        case completing
        case fetching(CKRecordZone.ID)
        case creatingZone(CKRecordZone.ID)
        case subscribing
    }

    /// A record's conflict as it came back last.
    struct Conflict {
        var serverTag: String?
        var rounds: Int
    }

    var count = QueueCount()
    /// What is under way: at most one thing, so that a reply never meets a queue that a fetch is changing.
    var work: Work?
    var zonesToCreate: [CKRecordZone.ID] = []
    var zonesToFetch: [CKRecordZone.ID] = []
    var followed: [CKRecordZone.ID] = []
    /// Made since something last went well: a server that still doesn't have one is asked again after a pause.
    var createdZones: Set<CKRecordZone.ID> = []
    var itemsMax = SyncEngine.itemsMax
    var backOff = BackOff()
    var pause: (untilMilliseconds: Int64, because: CloudSyncPause)?
    /// Stops everything in this database until `retry`.
    var stop: CloudSyncProblem?
    var conflicts: [CKRecord.ID: Conflict] = [:]
    /// Other devices' changes are to be heard of.
    var listens = false
    /// The adapter was told to listen.
    var isListening = false
    /// The subscription has to be saved; without it there are no notifications.
    var needsSubscription = false
    /// The app asked to try refused changes again.
    var liftsRefusals = false

    var hasWork: Bool {
        work != nil || liftsRefusals || needsSubscription || count.pending > 0 || !zonesToFetch.isEmpty
            || !zonesToCreate.isEmpty
    }

    mutating func succeeded() {
        backOff.reset()
        createdZones = []
    }

    /// What was under way is not known here: what the queue doesn't say is asked again.
    mutating func workFailedHere() {
        switch work {
        case .fetching(let zone): needFetch(zone)
        case .subscribing: needsSubscription = true
        case .creatingZone(let zone): needCreate(zone)
        case .sending, .completing, nil: break
        }
        work = nil
    }

    mutating func needCreate(_ zone: CKRecordZone.ID) {
        if !zonesToCreate.contains(zone) { zonesToCreate.append(zone) }
    }

    mutating func needFetch(_ zone: CKRecordZone.ID) {
        if !zonesToFetch.contains(zone) { zonesToFetch.append(zone) }
    }
}

internal import CloudKit

/// The engine's knowledge of one database. Databases don't wait for one another.
struct SyncLane {
    /// What is under way.
    struct Running {
        var work: SyncWork
        /// Answers of earlier attempts come too late to count.
        var attempt: Int
        /// When an answer of the cloud is no longer waited for.
        var deadlineMilliseconds: Int64?
    }

    /// A record's conflict as it came back last.
    struct Conflict {
        var serverTag: String?
        var rounds: Int
    }

    private(set) var count = QueueCount()
    /// Whether the queue was counted.
    private var isCounted = false
    /// At most one thing, so that a reply never meets a queue that a fetch is changing.
    var running: Running?
    /// The result of a batch that could not be written here yet: before that nothing else is done.
    var unwritten: SyncCompletion?
    var zonesToCreate: [CKRecordZone.ID] = []
    var zonesToFetch: [CKRecordZone.ID] = []
    var followed: [CKRecordZone.ID] = []
    /// Made since something last went well: a server that still doesn't have one is asked again after a pause.
    var createdZones: Set<CKRecordZone.ID> = []
    /// What the user deleted on purpose; it is made again when the app says so.
    var deletedZone: CKRecordZone.ID?
    /// Whose token was dropped since a page of theirs came: a server that refuses the fetch without one as well is
    /// asked again after a pause.
    var zonesWithoutToken: Set<CKRecordZone.ID> = []
    var itemsMax = BatchLimits.itemsMax
    var backOff = BackOff()
    var pause: (untilMilliseconds: Int64, because: CloudSyncPause)?
    /// The network may have come back while the work that runs was under way. If that fails for want of a network, it
    /// may have failed before: it is tried again without a pause.
    var networkCameBackMeanwhile = false
    /// Why waiting alone won't end the pause.
    var refusedConnection: CloudSyncProblem?
    /// When the server last responded. It outlives what becomes of the connection later.
    var lastResponseMilliseconds: Int64?
    /// Stops everything in this database until `retry`.
    var stop: CloudSyncProblem?
    /// The user's storage is full: nothing is saved before a deletion went through, or the app says so.
    var isQuotaFull = false
    /// Nothing that waits is a deletion which could go meanwhile.
    var hasNoDeletions = false
    var conflicts: [CKRecord.ID: Conflict] = [:]
    /// How often the server lost a record's upload before the record was saved.
    var lostUploads: [CKRecord.ID: Int] = [:]
    /// Something was saved since changes were put aside that refer to what the server doesn't have: it may have it now.
    var savedSinceDeferral = false
    /// How often in a row a batch went out and no answer came; 0 when all were answered.
    var unansweredSends = 0
    /// How often the same batch goes before a fetch, which a server that never answers the batch must not hold up.
    static let unansweredSendsMax = 3
    /// Other devices' changes are to be heard of.
    var listens = false
    /// The adapter was told to listen.
    var isListening = false
    /// The subscription has to be saved; without it there are no notifications.
    var needsSubscription = false
    /// The app asked to try refused changes again.
    var liftsRefusals = false
    /// Changes that the server refused as invalid are tried once more: its schema may have changed.
    var retriesInvalid = false
    /// Version of the server's schema with the last page; nil before one came.
    var schemaVersion: String?

    var hasWork: Bool {
        running != nil || unwritten != nil || liftsRefusals || retriesInvalid || needsSubscription
            || count.pending > 0
            || !zonesToFetch.isEmpty || !zonesToCreate.isEmpty
    }

    /// The next thing to do, if nothing is under way and nothing forbids it.
    func next(isSuspended: Bool) -> SyncWork? {
        // What the server has taken is written down whatever else stands in the way.
        if let unwritten { return .complete(unwritten) }
        guard stop == nil else { return nil }
        if liftsRefusals { return .liftRefusals(onlyWith: nil) }
        if let zone = zonesToCreate.first, !isSuspended { return .createZone(zone) }
        // Before the fetch: what is changed in between is fetched or told.
        if needsSubscription { return .subscribe }
        // What a fetch shows of a batch whose answer is not known looks as if another device had made it, and a
        // deletion of it as if it were of an earlier life. Under the name of the batch the server tells what it did.
        if (1...Self.unansweredSendsMax).contains(unansweredSends), !isSuspended, !isQuotaFull {
            guard isCounted else { return nil }
            if count.pending > 0, count.zonesToFetchFirst.isEmpty { return send }
        }
        if let zone = zonesToFetch.first(where: { !zonesToCreate.contains($0) }) { return .fetch(zone) }
        // A change may be made from less than the version of its tag has: an upgraded row lacks the server's values of
        // the fields that are new. Sent before the fetch, it would overwrite them.
        guard count.zonesToFetchFirst.isEmpty else {
            let zone = count.zonesToFetchFirst.first { followed.contains($0) && !zonesToCreate.contains($0) }
            return zone.map { .fetch($0) }
        }
        guard !isSuspended else { return nil }
        if retriesInvalid { return .liftRefusals(onlyWith: .invalidArguments) }
        if count.pending > 0, !isQuotaFull || !hasNoDeletions { return send }
        let mayHaveTargets = savedSinceDeferral && count.pending == 0 && count.hasDeferredReferences
        return mayHaveTargets ? .liftRefusals(onlyWith: .referenceViolation) : nil
    }

    private var send: SyncWork {
        var limits = BatchLimits()
        limits.itemsMax = itemsMax
        limits.takesDeletionsOnly = isQuotaFull
        return .send(limits)
    }

    /// A batch was answered, or not.
    mutating func noteAnswer(isJudged: Bool, _ error: CKError?) {
        guard let error, !isJudged else {
            unansweredSends = 0
            return
        }
        switch error.code {
        // Nothing went out.
        case .networkUnavailable: break
        // A partial failure that isn't judged has a request without a response.
        case let code where code.leavesOutcomeUnknown || code == .partialFailure: unansweredSends += 1
        // A server that refuses the whole request says nothing of the one before.
        default: unansweredSends += unansweredSends > 0 ? 1 : 0
        }
    }

    /// Takes a count, unless a later one was taken before it.
    /// - Returns: Whether it was taken.
    @discardableResult
    mutating func take(_ new: QueueCount) -> Bool {
        guard new.moment >= count.moment else { return false }
        count = new
        if !isCounted { retryInvalid() }
        isCounted = true
        return true
    }

    /// It begins: it is no longer to be done.
    mutating func take(_ work: SyncWork) {
        switch work {
        case .send, .dropToken: break
        case .complete: unwritten = nil
        case .fetch(let zone): zonesToFetch.removeAll { $0 == zone }
        case .createZone(let zone): zonesToCreate.removeAll { $0 == zone }
        case .subscribe: needsSubscription = false
        case .liftRefusals(onlyWith: nil): liftsRefusals = false
        case .liftRefusals(onlyWith: .invalidArguments): retriesInvalid = false
        case .liftRefusals: savedSinceDeferral = false
        }
    }

    mutating func succeeded() {
        backOff.reset()
        createdZones = []
    }

    /// What was under way is not known here: what the queue doesn't say is asked again.
    mutating func workFailedHere() {
        switch running?.work {
        case .complete(let completion): unwritten = completion
        case .fetch(let zone), .dropToken(let zone, _): needFetch(zone)
        case .subscribe: needsSubscription = true
        case .createZone(let zone): needCreate(zone)
        case .liftRefusals(onlyWith: nil): liftsRefusals = true
        case .liftRefusals(onlyWith: .invalidArguments): retriesInvalid = true
        case .liftRefusals: savedSinceDeferral = true
        case .send, nil: break
        }
        running = nil
    }

    mutating func clockWasSet(byMilliseconds change: Int64) {
        if let deadline = running?.deadlineMilliseconds { running?.deadlineMilliseconds = deadline + change }
        if let pause { self.pause?.untilMilliseconds = pause.untilMilliseconds + change }
        if let last = lastResponseMilliseconds { lastResponseMilliseconds = last + change }
    }

    mutating func needCreate(_ zone: CKRecordZone.ID) {
        if !zonesToCreate.contains(zone) { zonesToCreate.append(zone) }
    }

    mutating func needFetch(_ zone: CKRecordZone.ID) {
        if !zonesToFetch.contains(zone) { zonesToFetch.append(zone) }
    }
}

internal import CloudKit

/// The sync state of one database, as the engine knows it. Databases don't wait for each other.
///
/// It lasts as long as the engine. Nothing of it is stored: it is built again from the device's database.
struct DatabaseSyncState {
    /// The work in progress.
    struct Running {
        var work: SyncWork
        /// Number of the attempt. Events of earlier attempts are ignored.
        var attempt: Int
        /// Time after which a response of the cloud is no longer waited for.
        var deadlineMilliseconds: Int64?
    }

    private(set) var count = QueueCount()
    /// Whether the queue was counted.
    private var isCounted = false
    /// Only one piece of work runs at a time, so that a fetch doesn't change the queue while a reply is pending.
    var running: Running?
    /// The result of a batch that could not be written to the device's database yet. It is written before anything
    /// else is done.
    var unwritten: SyncCompletion?
    var zones = Zones()
    var uploads = Uploads()
    var retry = Retry()
    var notifications = Notifications()
    var quarantine = QuarantineRetry()
    /// Time of the server's last response. Kept when the connection fails later.
    var lastResponseMilliseconds: Int64?
    /// The problem that stops all work in this database until `retry`.
    var stop: CloudSyncProblem?
    /// Version of the server's schema with the last page; nil before the first page.
    var schemaVersion: String?

    var hasWork: Bool {
        running != nil || unwritten != nil || quarantine.retriesAll || quarantine.retriesInvalid
            || notifications.needsSubscription || count.pending > 0 || zones.hasWork
    }

    /// The next thing to do, if nothing is in progress and nothing forbids it.
    func next(isSuspended: Bool) -> SyncWork? {
        // What the server has taken is written down first, even if the database is stopped.
        if let unwritten { return .complete(unwritten) }
        guard stop == nil else { return nil }
        if quarantine.retriesAll { return .liftQuarantine(onlyWith: nil) }
        if let zone = zones.toCreate.first, !isSuspended { return .createZone(zone) }
        // Before the fetch: changes made in between are fetched or reported.
        if notifications.needsSubscription { return .subscribe }
        // If the result of a batch is unknown, a fetch would show its records as another device's, and their deletion
        // as one of an earlier incarnation. A repeated request gets the original result from the server.
        if uploads.repeatsUnanswered, !isSuspended, !uploads.isQuotaFull {
            guard isCounted else { return nil }
            if count.pending > 0, count.zonesToFetchFirst.isEmpty { return send }
        }
        if let zone = zones.nextToFetch { return .fetch(zone) }
        // A row may have fewer values than the version of its tag: an upgraded row lacks the server's values of the
        // new fields. If it were sent before the fetch, it would overwrite them.
        guard count.zonesToFetchFirst.isEmpty else {
            return zones.firstFollowed(of: count.zonesToFetchFirst).map { .fetch($0) }
        }
        guard !isSuspended else { return nil }
        if quarantine.retriesInvalid { return .liftQuarantine(onlyWith: .invalidArguments) }
        if count.pending > 0, !uploads.isQuotaFull || !uploads.hasNoDeletions { return send }
        let mayHaveTargets =
            quarantine.savedSinceDeferral && count.pending == 0 && count.hasDeferredReferences
        return mayHaveTargets ? .liftQuarantine(onlyWith: .referenceViolation) : nil
    }

    private var send: SyncWork { .send(uploads.limits) }

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

    /// Removes work that begins from what is to be done.
    mutating func take(_ work: SyncWork) {
        switch work {
        case .send, .dropToken: break
        case .complete: unwritten = nil
        case .fetch(let zone): zones.toFetch.removeAll { $0 == zone }
        case .createZone(let zone): zones.toCreate.removeAll { $0 == zone }
        case .subscribe: notifications.needsSubscription = false
        case .liftQuarantine(let code): quarantine.setRetries(onlyWith: code, false)
        }
    }

    mutating func succeeded() {
        retry.backOff.reset()
        zones.created = []
    }

    /// Plans the running work again: its result isn't known, because the device's database failed.
    mutating func workFailedHere() {
        switch running?.work {
        case .complete(let completion): unwritten = completion
        case .fetch(let zone), .dropToken(let zone, _): zones.needFetch(zone)
        case .subscribe: notifications.needsSubscription = true
        case .createZone(let zone): zones.needCreate(zone)
        case .liftQuarantine(let code): quarantine.setRetries(onlyWith: code, true)
        case .send, nil: break
        }
        running = nil
    }

    mutating func clockWasSet(byMilliseconds change: Int64) {
        if let deadline = running?.deadlineMilliseconds { running?.deadlineMilliseconds = deadline + change }
        if let pause = retry.pause { retry.pause?.untilMilliseconds = pause.untilMilliseconds + change }
        if let last = lastResponseMilliseconds { lastResponseMilliseconds = last + change }
    }

    // MARK: Events that end a wait

    /// Ends a wait for the network.
    mutating func endNetworkPause() {
        if retry.pause?.because == .network { retry.pause = nil }
        if running?.work.isRemote == true { retry.networkCameBackMeanwhile = true }
    }

    /// Ends a wait for the network, and fetches what may have been missed.
    mutating func networkMayBeBack() {
        endNetworkPause()
        zones.needFetchOfFollowed()
    }

    /// Sends changes again that the server found invalid: its schema may have changed.
    mutating func retryInvalid() {
        quarantine.retriesInvalid = count.hasInvalidArguments
    }

    /// Notes the version of the server's schema. Another version may take what the one before found invalid.
    mutating func note(schemaVersion: String) {
        guard schemaVersion != self.schemaVersion else { return }
        self.schemaVersion = schemaVersion
        retryInvalid()
    }

    /// Resumes after a sign-in or sign-out. The next request finds out which user is signed in.
    mutating func accountChanged() {
        switch stop {
        case .account, .anotherUser:
            stop = nil
            zones.needFetchOfFollowed()
            notifications.needsSubscription = notifications.isWanted
        default: break
        }
    }

    mutating func mayKnowDatabase() {
        if case .unknownDatabase = stop { stop = nil }
    }

    /// Plans everything again that needed attention.
    mutating func retryAll() {
        if let zone = zones.deletedByUser { zones.needCreate(zone) }
        zones.deletedByUser = nil
        stop = nil
        retry.pause = nil
        uploads.isQuotaFull = false
        retry.backOff.reset()
        uploads.conflicts = [:]
        zones.needFetchOfFollowed()
        quarantine.retriesAll = !count.quarantined.isEmpty
        // Another user may be signed in now.
        notifications.needsSubscription = notifications.isWanted
    }
}

internal import CloudKit
package import System

/// Decides what is sent and fetched, and when. A state machine without input or output: events in, actions
/// out.
///
/// It holds no truth: the queue, the tags and the tokens are in the device's database, and what is here is
/// gone with the process and made again from there.
package struct SyncEngine {
    /// How often the same conflict may come back before it counts as stuck.
    package static let identicalConflictsMax = 3
    /// How long the cloud's answer to one operation is waited for.
    package static let operationSecondsMax: Int64 = 600

    var lanes: [DatabaseKey: SyncLane] = [:]
    /// Whose databases are synced; nil before that is known. Other accounts' lanes begin nothing.
    var account: Int64?
    /// Uploads run at 0. It is raised here when an operation fails whose errors are the app's, before anything else
    /// can be sent.
    package private(set) var suspendCount = 0
    /// Whether this process syncs; if not, another one does, and this one only records.
    var isOurTurn = true
    /// The queues could not be counted: they are again then.
    var countPause: (untilMilliseconds: Int64, backOff: BackOff)?
    var lastWake: Int64?
    /// When the last event came, by the same clock.
    private var lastEventMilliseconds: Int64?
    var lastStatus: CloudSyncStatus?
    private var lastAttempt = 0
    let random: any RandomSource
    let failures: YapDatabaseCloudKit.FailureHandling
    let objectsOfDeletedZones: CloudSync.DeletedZonesObjects

    /// - Parameters:
    ///   - random: Where the jitter of pauses comes from.
    ///   - failures: Who deals with a failed upload.
    ///   - account: Whose databases are synced, when that is known already.
    ///   - objectsOfDeletedZones: What happens to the objects of a zone that was deleted and made again.
    package init(
        random: any RandomSource, failures: YapDatabaseCloudKit.FailureHandling = .automatic,
        account: Int64? = DatabaseKey.firstAccount,
        objectsOfDeletedZones: CloudSync.DeletedZonesObjects = .keep
    ) {
        self.objectsOfDeletedZones = objectsOfDeletedZones
        self.random = random
        self.account = account
        self.failures = failures
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - attempt: The number of the work that the event answers; one that comes too late is ignored. Nil for an
    ///     event that answers none.
    ///   - now: Milliseconds since 1970.
    /// - Returns: What to do, in this order.
    package mutating func handle(_ event: SyncEvent, attempt: Int? = nil, now: Int64) -> [SyncAction] {
        var actions: [SyncAction] = []
        var event = event
        if let attempt, !lanes.values.contains(where: { $0.running?.attempt == attempt }) {
            // Work that was given up may still have written, and its write queued something.
            guard let (key, count) = event.countAfterWrite, lanes[key] != nil else { return [] }
            event = .counted(key, count)
        }
        noticeClock(now)
        noteResponse(event, now: now)
        take(event, now: now, &actions)
        for key in lanes.keys.sorted() {
            giveUpWhatIsLate(key, now: now, &actions)
            advance(key, now: now, &actions)
        }
        announce(now: now, &actions)
        return actions
    }

    /// A clock that was set back makes nothing wait longer: what was to come at a time comes as much earlier.
    private mutating func noticeClock(_ now: Int64) {
        let before = lastEventMilliseconds ?? now
        lastEventMilliseconds = now
        guard now < before else { return }
        for key in lanes.keys { lanes[key]?.clockWasSet(byMilliseconds: now - before) }
        if let pause = countPause { countPause?.untilMilliseconds = pause.untilMilliseconds + now - before }
    }

    private mutating func take(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .follow(let key, let zone, let mayBeMissing):
            let key = current(key)
            var lane = lanes[key] ?? SyncLane()
            if !lane.followed.contains(zone) { lane.followed.append(zone) }
            if mayBeMissing { lane.needCreate(zone) }
            lane.needFetch(zone)
            lanes[key] = lane
        case .remoteChange(let key, let zone):
            lanes[current(key), default: SyncLane()].needFetch(zone)
        case .useAccount(let account, let isFetched):
            use(account, isFetched: isFetched)
        case .listen, .subscribed, .subscribeFailed, .listening, .pushed:
            takePush(event, now: now, &actions)
        case .counted, .unanswered, .countFailed, .applied, .nothingToSend, .localFailure, .unknownDatabase,
            .anotherUser:
            takeLocal(event, now: now, &actions)
        case .sent(let key, let reply):
            sent(key, reply, now: now, &actions)
        case .pageApplied(let key, let zone, let moreComing, let count):
            pageApplied(key, zone, moreComing: moreComing, count)
        case .fetchFailed(let key, let zone, let error):
            failed(key, zone, error, in: .fetch, now: now, &actions)
        case .zoneCreated(let key, let zone, let error):
            zoneCreated(key, zone, error, now: now, &actions)
        case .turn(let isOurs):
            isOurTurn = isOurs
        case .suspendCount(let count, let isMisuse):
            actions.append(.announce(isMisuse ? .resumedTooOften : .suspendCountChanged(count)))
        case .networkMayBeBack:
            for key in lanes.keys { lanes[key]?.networkMayBeBack() }
        case .networkPauseEnds:
            for key in lanes.keys { lanes[key]?.endNetworkPause() }
        case .retryInvalid:
            for key in lanes.keys { lanes[key]?.retryInvalid() }
        case .schemaVersion(let key, let version):
            lanes[key]?.note(schemaVersion: version)
        case .accountChanged:
            for key in lanes.keys { lanes[key]?.accountChanged() }
        case .retry:
            retry()
        case .tick:
            // A wake that comes too early is asked for again.
            lastWake = nil
            if let pause = countPause, pause.untilMilliseconds <= now { actions.append(.count) }
        }
    }

    // MARK: The suspend count

    /// Raises or lowers the count, which stays between 0 and the largest number.
    /// - Returns: False for a count of 0 that was to be lowered.
    package mutating func changeSuspendCount(by change: Int) -> Bool {
        let (sum, isOverflow) = suspendCount.addingReportingOverflow(change)
        guard isOverflow || sum >= 0 else { return false }
        let before = suspendCount
        suspendCount = isOverflow ? .max : sum
        // The app may have made a database known meanwhile.
        if before > 0, suspendCount == 0 { for key in lanes.keys { lanes[key]?.mayKnowDatabase() } }
        return true
    }

    /// An operation failed: nothing more is sent before the app says so.
    mutating func suspendAfterFailure(_ actions: inout [SyncAction]) {
        _ = changeSuspendCount(by: 1)
        actions.append(.announce(.suspendCountChanged(suspendCount)))
    }

    // MARK: The loop

    /// Begins the next thing in a database, if nothing is under way there and nothing forbids it.
    private mutating func advance(_ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]) {
        beginListening(key, &actions)
        guard isOurTurn, key.account == account, let lane = lanes[key], lane.running == nil else { return }
        if let pause = lane.pause, pause.untilMilliseconds > now { return }
        lanes[key]?.pause = nil
        guard let work = lane.next(isSuspended: suspendCount > 0) else { return }
        lanes[key]?.take(work)
        begin(work, key, now: now, &actions)
    }

    mutating func begin(
        _ work: SyncWork, _ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]
    ) {
        lastAttempt += 1
        if work.isRemote { lanes[key]?.networkCameBackMeanwhile = false }
        lanes[key]?.running = SyncLane.Running(
            work: work, attempt: lastAttempt,
            deadlineMilliseconds: work.isRemote ? now + Self.operationSecondsMax * 1000 : nil)
        actions.append(.begin(work, key, attempt: lastAttempt))
    }

    /// An operation that the cloud doesn't answer is ended, and dealt with as one that failed on the way.
    private mutating func giveUpWhatIsLate(_ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]) {
        guard let running = lanes[key]?.running, let deadline = running.deadlineMilliseconds, deadline <= now
        else { return }
        actions.append(.cancel(key, attempt: running.attempt))
        let error = CKError.saying(
            .networkFailure, "the cloud did not answer within \(Self.operationSecondsMax) seconds")
        switch running.work {
        case .send: sent(key, SendReply(items: [], error: error), now: now, &actions)
        case .fetch(let zone): failed(key, zone, error, in: .fetch, now: now, &actions)
        case .createZone(let zone): failed(key, zone, error, in: .createZone, now: now, &actions)
        case .subscribe: takePush(.subscribeFailed(key, error), now: now, &actions)
        case .complete, .dropToken, .liftRefusals: break
        }
    }

    /// The status and the next wake, when they are other than before. The date of the last response is told with the
    /// next status that has something else to tell.
    private mutating func announce(now: Int64, _ actions: inout [SyncAction]) {
        let due = lanes.compactMap { key, lane in
            if let running = lane.running { return running.deadlineMilliseconds }
            // A pause after which nothing would be begun is over when something may be.
            return key.account == account && isOurTurn ? lane.pause?.untilMilliseconds : nil
        }
        let wake = (due + [countPause?.untilMilliseconds].compactMap { $0 }).min()
        if wake != lastWake {
            lastWake = wake
            actions.append(.wake(atMilliseconds: wake))
        }
        let status = status
        if status.differs(from: lastStatus) {
            lastStatus = status
            actions.append(.status(status))
        }
    }
}

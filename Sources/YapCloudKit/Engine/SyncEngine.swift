internal import CloudKit
package import System

/// Decides what is sent and fetched, and when. A state machine without I/O: it takes events and returns actions.
///
/// It stores nothing. The queue, the tags and the tokens are in the device's database, and the engine's state is built
/// again from them when the process starts.
package struct SyncEngine {
    /// Maximum number of times that the same conflict may come back before the change is quarantined as stuck.
    package static let identicalConflictsMax = 3
    /// Maximum seconds to wait for the cloud's response to one operation.
    package static let operationSecondsMax: Int64 = 600

    var databases: [DatabaseKey: DatabaseSyncState] = [:]
    /// The account that is synced, or nil until it is known. No work begins in other accounts' databases.
    var account: Int64?
    /// Uploads run at 0. If failures are left to the app, the engine raises it when an operation fails, before
    /// anything else is sent.
    package private(set) var suspendCount = 0
    /// Whether this process holds the lock between processes and syncs. Otherwise it only records changes.
    var isLockHeld = true
    /// Set if the queues could not be counted: they are counted again at this time.
    var countPause: (untilMilliseconds: Int64, backOff: BackOff)?
    var lastWake: Int64?
    /// Time of the last event, by the same clock.
    private var lastEventMilliseconds: Int64?
    var lastStatus: CloudSyncStatus?
    private var lastAttempt = 0
    let random: any RandomSource
    let failures: YapDatabaseCloudKit.FailureHandling
    let objectsOfDeletedZones: CloudSync.DeletedZonesObjects

    /// - Parameters:
    ///   - random: Source of the jitter of pauses.
    ///   - failures: Whether the engine or the app handles a failed upload.
    ///   - account: The account that is synced, or nil if it isn't known yet.
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

    /// Starts again with another database of the device. The same zones are followed and listened to. The
    /// numbers of attempts continue, so events of earlier work are ignored.
    mutating func restart() {
        let before = databases
        databases = [:]
        for (key, old) in before where !old.zones.followed.isEmpty || old.notifications.isWanted {
            var state = DatabaseSyncState()
            state.follow(asIn: old)
            // The listening ended with the database.
            state.notifications.isListening = false
            databases[key] = state
        }
        // The account in use is read from the database.
        (account, countPause, lastWake, lastStatus) = (nil, nil, nil, nil)
    }

    /// Takes one event.
    ///
    /// - Parameters:
    ///   - attempt: Number of the work that the event completes; an event of earlier work is ignored. Nil for an event
    ///     that completes no work.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The actions to perform, in this order.
    package mutating func handle(_ event: SyncEvent, attempt: Int? = nil, now: Int64) -> [SyncAction] {
        var actions: [SyncAction] = []
        var event = event
        if let attempt, !databases.values.contains(where: { $0.running?.attempt == attempt }) {
            // Work that was given up may still have written, and its write may have queued changes.
            guard let (key, count) = event.countAfterWrite, databases[key] != nil else { return [] }
            event = .counted(key, count)
        }
        noticeClock(now)
        noteResponse(event, now: now)
        take(event, now: now, &actions)
        for key in databases.keys.sorted() {
            giveUpWhatIsLate(key, now: now, &actions)
            advance(key, now: now, &actions)
        }
        announce(now: now, &actions)
        return actions
    }

    /// Moves the times of pauses and deadlines if the clock was set back, so that nothing waits longer.
    private mutating func noticeClock(_ now: Int64) {
        let before = lastEventMilliseconds ?? now
        lastEventMilliseconds = now
        guard now < before else { return }
        for key in databases.keys { databases[key]?.clockWasSet(byMilliseconds: now - before) }
        if let pause = countPause { countPause?.untilMilliseconds = pause.untilMilliseconds + now - before }
    }

    private mutating func take(_ event: SyncEvent, now: Int64, _ actions: inout [SyncAction]) {
        switch event {
        case .follow(let key, let zone, let mayBeMissing):
            let key = current(key)
            var state = databases[key] ?? DatabaseSyncState()
            if !state.zones.followed.contains(zone) { state.zones.followed.append(zone) }
            if mayBeMissing { state.zones.needCreate(zone) }
            state.zones.needFetch(zone)
            databases[key] = state
        case .remoteChange(let key, let zone):
            databases[current(key), default: DatabaseSyncState()].zones.needFetch(zone)
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
        case .processLock(let isHeld):
            isLockHeld = isHeld
        case .suspendCount(let count, let isMisuse):
            actions.append(.announce(isMisuse ? .resumedTooOften : .suspendCountChanged(count)))
        case .networkMayBeBack:
            for key in databases.keys { databases[key]?.networkMayBeBack() }
        case .networkPauseEnds:
            for key in databases.keys { databases[key]?.endNetworkPause() }
        case .retryInvalid:
            for key in databases.keys { databases[key]?.retryInvalid() }
        case .schemaVersion(let key, let version):
            databases[key]?.note(schemaVersion: version)
        case .accountChanged:
            for key in databases.keys { databases[key]?.accountChanged() }
        case .retry:
            retry()
        case .tick:
            // If the wake came too early, it is requested again.
            lastWake = nil
            if let pause = countPause, pause.untilMilliseconds <= now { actions.append(.count) }
        }
    }

    // MARK: The suspend count

    /// Changes the count, which stays between 0 and `Int.max`.
    /// - Returns: False if the count would fall below 0; then it isn't changed.
    package mutating func changeSuspendCount(by change: Int) -> Bool {
        let (sum, isOverflow) = suspendCount.addingReportingOverflow(change)
        guard isOverflow || sum >= 0 else { return false }
        let before = suspendCount
        suspendCount = isOverflow ? .max : sum
        // The app may have provided a missing database meanwhile.
        if before > 0, suspendCount == 0 { for key in databases.keys { databases[key]?.mayKnowDatabase() } }
        return true
    }

    /// Suspends uploads after an operation failed, until the app resumes them.
    mutating func suspendAfterFailure(_ actions: inout [SyncAction]) {
        _ = changeSuspendCount(by: 1)
        actions.append(.announce(.suspendCountChanged(suspendCount)))
    }

    // MARK: The loop

    /// Begins the next work in a database, if none is running there and nothing forbids it.
    private mutating func advance(_ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]) {
        beginListening(key, &actions)
        guard isLockHeld, key.account == account, let state = databases[key], state.running == nil else {
            return
        }
        if let pause = state.retry.pause, pause.untilMilliseconds > now { return }
        databases[key]?.retry.pause = nil
        guard let work = state.next(isSuspended: suspendCount > 0) else { return }
        databases[key]?.take(work)
        begin(work, key, now: now, &actions)
    }

    mutating func begin(
        _ work: SyncWork, _ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]
    ) {
        lastAttempt += 1
        if work.isRemote { databases[key]?.retry.networkCameBackMeanwhile = false }
        databases[key]?.running = DatabaseSyncState.Running(
            work: work, attempt: lastAttempt,
            deadlineMilliseconds: work.isRemote ? now + Self.operationSecondsMax * 1000 : nil)
        actions.append(.begin(work, key, attempt: lastAttempt))
    }

    /// Cancels work after its deadline, and handles it as a network failure.
    private mutating func giveUpWhatIsLate(_ key: DatabaseKey, now: Int64, _ actions: inout [SyncAction]) {
        guard let running = databases[key]?.running, let deadline = running.deadlineMilliseconds,
            deadline <= now
        else { return }
        actions.append(.cancel(key, attempt: running.attempt))
        let error = CKError.saying(
            .networkFailure, "the cloud did not answer within \(Self.operationSecondsMax) seconds")
        switch running.work {
        case .send: sent(key, SendReply(items: [], error: error), now: now, &actions)
        case .fetch(let zone): failed(key, zone, error, in: .fetch, now: now, &actions)
        case .createZone(let zone): failed(key, zone, error, in: .createZone, now: now, &actions)
        case .subscribe: takePush(.subscribeFailed(key, error), now: now, &actions)
        case .complete, .dropToken, .liftQuarantine: break
        }
    }

    /// Reports the status and the next wake if they changed. A changed date of the last response alone isn't
    /// reported.
    private mutating func announce(now: Int64, _ actions: inout [SyncAction]) {
        let due = databases.compactMap { key, state in
            if let running = state.running { return running.deadlineMilliseconds }
            // No wake for a pause after which no work could begin.
            return key.account == account && isLockHeld ? state.retry.pause?.untilMilliseconds : nil
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

internal import CloudKit
internal import System
internal import Yap

/// Runs the engine: feeds it events one at a time, and carries out its actions with CloudKit's operations and
/// with transactions of the device's database.
final class SyncRunner: Sendable {
    struct State {
        var engine: SyncEngine
        /// What the engine has not dealt with yet, with the number of the attempt that it answers.
        var events: [(event: SyncEvent, attempt: Int?)] = []
        var log: [CloudMergeLogEntry] = []
        /// The number of the last entry that was handed out.
        var heardLogID: Int64 = 0
        var isRecountNeeded = false
        /// A commit may have queued something that the status doesn't know of yet.
        var isUncounted = false
        /// What the process before us had in flight still says so.
        var mustClearInFlight = false
        var isLogLeft = false
        var isDraining = false
        /// The database was closed: nothing can be done or found out any more.
        var isEnded = false
        /// How often it was started: what was counted before the last start is of another database.
        var starts = 0
        /// Number of the newest start, which may not have taken effect yet.
        var newestStart = 0
        /// Number of the newest start whose database was closed.
        var endedStart = 0
        var registeredName = ""
        /// Weak, because the database keeps the extension, which keeps this.
        weak var database: YapDatabase?
        /// Kept as long as something is under way: it keeps the database, and opening one takes time.
        var connection: YapDatabaseConnection?
        var status = CloudSyncStatus()
        /// What the streams were told last.
        var toldStatus: CloudSyncStatus?
        /// What was committed just now is not delivered, even before it is counted.
        var shownStatus: CloudSyncStatus {
            var shown = status
            if isUncounted, status.state == .idle { shown.isSyncing = true }
            // The engine tells no status for a response alone.
            shown.lastResponseDate = engine.lastResponseDate
            return shown
        }
        /// What is shown once the database was closed: what waited there still does.
        var endedStatus: CloudSyncStatus {
            CloudSyncStatus(pendingCount: status.pendingCount, pause: .localDatabase)
        }
        var waiters: [@Sendable (CloudSyncStatus) -> Void] = []
        /// What ends the listening to databases' notifications.
        var listenings: [@Sendable () -> Void] = []
        /// The database was closed: nothing is listened to any more.
        var isListeningEnded = false
        /// Whose changes are in the queue, as far as it was read.
        var users: [DatabaseKey: String] = [:]
        /// What runs in the cloud, by the attempt.
        var operations: [Int: CKOperation] = [:]
        /// What the operation of a database was given, until its result is written down.
        var batches: [DatabaseKey: SentBatch] = [:]
        /// Number of records that the server took, sent in a page, or answered with a conflict.
        var exchangedCount = 0
    }

    /// The most statuses or events that are kept for somebody who doesn't ask for them.
    private static let bufferedValuesMax = 1000

    let environment: SyncEnvironment
    let zoneHandler: SyncZoneHandler?
    let state: Lock<State>
    let statuses = Broadcast<CloudSyncStatus>(valuesMax: bufferedValuesMax)
    let events = Broadcast<YapDatabaseCloudKit.Event>(valuesMax: bufferedValuesMax)

    init(
        environment: SyncEnvironment, zoneHandler: SyncZoneHandler?,
        failures: YapDatabaseCloudKit.FailureHandling
    ) {
        self.environment = environment
        self.zoneHandler = zoneHandler
        // Whose account is in use stands in the database.
        let engine = SyncEngine(
            random: environment.random, failures: failures, account: nil,
            objectsOfDeletedZones: environment.objectsOfDeletedZones)
        state = Lock(State(engine: engine))
    }

    deinit {
        for end in state.withLock({ $0.listenings }) { end() }
    }

    // MARK: From outside

    /// The extension is registered: what waits from earlier runs can go.
    func start(database: YapDatabase, registeredName: String) {
        let start = state.withLock { state in
            state.newestStart += 1
            return state.newestStart
        }
        let isLockHeld = acquireLock(database, registeredName, start: start)
        let before: YapDatabaseConnection? = schedule { state in
            // Of two starts at once, the newer one counts.
            guard start > state.starts else { return nil }
            defer { state.connection = nil }
            // Asked once more: the lock may have become ours meanwhile, and that was told before this.
            let isHeld = isLockHeld || environment.processLock?.isHeld == true
            state.events.append((.processLock(isHeld: isHeld), nil))
            state.mustClearInFlight = isHeld
            state.database = database
            state.starts = start
            state.isEnded = state.endedStart >= start
            state.isListeningEnded = false
            state.users = [:]
            state.registeredName = registeredName
            state.isLogLeft = true
            state.isRecountNeeded = true
            state.isUncounted = true
            return state.connection
        }
        // The connection to a database before is released after the lock.
        withExtendedLifetime(before) {}
    }

    /// Somebody begins to listen to the log.
    func handOutLog() {
        schedule { $0.isLogLeft = true }
    }

    /// Asks whether this process syncs, and learns from now on of what other processes commit.
    private func acquireLock(_ database: YapDatabase, _ registeredName: String, start: Int) -> Bool {
        let processLock = environment.processLock
        database.addInlineCommitObserver(
            whenEnded: { [weak processLock, weak self] in
                processLock?.release()
                // Of several waits of one device the newest gets what is told: the next process's, from here on.
                self?.end(start: start)
            }
        ) { [weak self] commit in
            if commit.isExternal { self?.schedule { $0.isRecountNeeded = true } }
        }
        guard let processLock else { return true }
        let listener = SyncProcessLock.Listener(
            acquired: { [weak self] in
                self?.schedule {
                    $0.events.append((.processLock(isHeld: true), nil))
                    $0.mustClearInFlight = true
                    $0.isRecountNeeded = true
                }
            },
            committed: { [weak self, weak database] snapshot in
                guard let database, snapshot.map({ $0 > database.snapshot }) ?? true else { return }
                // The count begins a transaction, and by that it notices the commit.
                self?.schedule { $0.isRecountNeeded = true }
            })
        do {
            return try processLock.acquire(
                path: SyncProcessLock.path(database: database.path, registeredName: registeredName),
                listener: listener)
        } catch {
            // Two that sync meet conflicts, and merge them; nobody who syncs would be worse.
            environment.errorBlock(nil, .saying(.internalError, "\(error): syncing without a lock"))
            return true
        }
    }

    /// A commit was made here. Called while the database's writer is held.
    func notifyOtherProcesses(snapshot: UInt64) {
        environment.processLock?.notify(snapshot: snapshot)
    }

    /// A commit touched the queue. Called while the database's writer is held.
    func committed(_ log: [CloudMergeLogEntry], isByEngine: Bool) {
        schedule {
            $0.log += log
            guard !isByEngine else { return }
            $0.isRecountNeeded = true
            $0.isUncounted = true
        }
    }

    /// Tells the engine.
    /// - Parameter attempt: The number of the work that the event answers.
    func post(_ event: SyncEvent, attempt: Int? = nil) {
        // The operation is released after the lock: its blocks may hold the last reference to a database.
        let operation = schedule { state in
            state.events.append((event, attempt))
            return attempt.flatMap { state.operations.removeValue(forKey: $0) }
        }
        withExtendedLifetime(operation) {}
    }

    var suspendCount: Int { state.withLock { $0.engine.suspendCount } }

    func changeSuspendCount(by change: Int) -> Int {
        var count = 0
        schedule { state in
            let isAllowed = state.engine.changeSuspendCount(by: change)
            count = state.engine.suspendCount
            if change != 0 { state.events.append((.suspendCount(count, isMisuse: !isAllowed), nil)) }
        }
        return count
    }

    var status: CloudSyncStatus {
        state.withLock { $0.shownStatus }
    }

    /// The status now, and each time it changes.
    func statusStream() -> AsyncStream<CloudSyncStatus> {
        let stream = statuses.stream {
            state.withLock { state in
                let shown = state.shownStatus
                state.toldStatus = shown
                return shown
            }
        }
        // Nothing follows any more.
        if state.withLock({ $0.isEnded }) { statuses.finish() }
        return stream
    }

    func eventStream() -> AsyncStream<YapDatabaseCloudKit.Event> {
        let stream = events.stream()
        if state.withLock({ $0.isEnded }) { events.finish() }
        return stream
    }

    /// Calls `body` once, when all events so far are dealt with and nothing is under way.
    func whenQuiet(_ body: @escaping @Sendable (CloudSyncStatus) -> Void) {
        schedule { $0.waiters.append(body) }
    }

    /// The databases in which something is followed.
    var followedDatabases: [DatabaseKey] {
        state.withLock { $0.engine.followedDatabases }
    }

    // MARK: The loop

    /// Changes the state, and starts the loop unless it runs.
    @discardableResult
    private func schedule<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, mustStart) = state.withLock { state in
            let result = change(&state)
            defer { state.isDraining = true }
            return (result, !state.isDraining)
        }
        if mustStart { environment.scheduler.perform { [self] in drain() } }
        return result
    }

    /// Deals with events until there are none. Only one thread is here at a time. An answer that comes at
    /// once, on this thread, only adds its event: the stack doesn't grow with the queue.
    private func drain() {
        while true {
            let (log, isRecountNeeded, isLogLeft) = state.withLock { state in
                defer {
                    state.log = []
                    state.isRecountNeeded = false
                    state.isLogLeft = false
                }
                return (state.log, state.isRecountNeeded, state.isLogLeft)
            }
            if isLogLeft { handOutLeftLog() }
            handOut(log)
            if isRecountNeeded { recount() }
            if let actions = handleNextEvent() {
                for action in actions { perform(action) }
            } else {
                tellStatus()
                guard let rest = rest() else { continue }
                let status = status
                for waiter in rest.waiters { waiter(status) }
                return
            }
        }
    }

    /// Lets the engine handle the next event. Returns what to do; nil when there is no event.
    private func handleNextEvent() -> [SyncAction]? {
        let now = environment.clock.nowMilliseconds()
        // The events leave the lock with the actions, and are released after it.
        let (_, actions) = state.withLock { state -> ([(SyncEvent, Int?)], [SyncAction]?) in
            guard !state.isEnded, !state.events.isEmpty else {
                state.isUncounted = state.isRecountNeeded
                defer { state.events = [] }
                return (state.events, nil)
            }
            let (event, attempt) = state.events.removeFirst()
            return ([(event, attempt)], state.engine.handle(event, attempt: attempt, now: now))
        }
        return actions
    }

    /// What the loop releases after the lock when it ends: the connection may hold the last reference to the database,
    /// whose end comes back to this runner.
    private struct Rest {
        var waiters: [@Sendable (CloudSyncStatus) -> Void] = []
        var connection: YapDatabaseConnection?
    }

    /// Ends the loop when nothing came in the meantime; else returns nil. Waiters are returned only if it is quiet.
    private func rest() -> Rest? {
        state.withLock { state in
            guard state.events.isEmpty, state.log.isEmpty, !state.isRecountNeeded, !state.isLogLeft
            else { return nil }
            state.isDraining = false
            if state.status.isSyncing { return Rest() }
            defer { (state.waiters, state.connection) = ([], nil) }
            return Rest(waiters: state.waiters, connection: state.connection)
        }
    }

    private func perform(_ action: SyncAction) {
        environment.scheduler.yield()
        switch action {
        case .begin(let work, let key, let attempt): begin(work, SyncTask(key: key, attempt: attempt))
        case .cancel(_, let attempt):
            state.withLock { $0.operations.removeValue(forKey: attempt) }?.cancel()
        case .count: schedule { $0.isRecountNeeded = true }
        case .listen(let key): listen(key)
        case .wake(let milliseconds):
            environment.scheduler.wake(ObjectIdentifier(self), atMilliseconds: milliseconds) { [weak self] in
                self?.post(.tick)
            }
        case .tell(let key, let error):
            keep(error, key)
            environment.errorBlock(key.identifier, error)
        case .announce(let event): events.yield(event)
        case .status(let status): say(status)
        }
    }

    private func say(_ status: CloudSyncStatus) {
        state.withLock { $0.status = $0.isEnded ? $0.endedStatus : status }
        tellStatus()
    }

    /// Tells the streams what `status` is, when more than the date of the last response is other than they were told.
    private func tellStatus() {
        let new = state.withLock { state -> CloudSyncStatus? in
            let shown = state.shownStatus
            guard shown.differs(from: state.toldStatus) else { return nil }
            state.toldStatus = shown
            return shown
        }
        if let new { statuses.yield(new) }
    }

    /// The database of a start was closed. The sync ends, unless it was started with another database since: callers
    /// that wait for it must not wait for ever.
    func end(start: Int) {
        // Numbers and no weak reference: reading one may hold the last reference, whose release comes back here.
        // Operations under way must not keep the database's handles. They are released after the lock: what they
        // release in turn may take it.
        let released = state.withLock { state -> (YapDatabaseConnection?, [Int: CKOperation])? in
            state.endedStart = max(state.endedStart, start)
            guard start >= state.starts else { return nil }
            defer { (state.isEnded, state.connection, state.operations) = (true, nil, [:]) }
            return (state.connection, state.operations)
        }
        guard released != nil else { return }
        perform(.wake(atMilliseconds: nil))
        say(status)
        statuses.finish()
        events.finish()
        endListening()
    }

    /// Keeps what ends a listening; ends it at once when the database is closed already.
    func keep(listening end: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isListeningEnded { state.listenings.append(end) }
            return state.isListeningEnded
        }
        if isEnded { end() }
    }

    private func endListening() {
        let listenings = state.withLock { state in
            state.isListeningEnded = true
            defer { state.listenings = [] }
            return state.listenings
        }
        for end in listenings { end() }
    }
}

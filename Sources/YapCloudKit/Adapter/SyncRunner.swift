internal import CloudKit
internal import System
internal import Yap

/// The loop of the sync: passes events to the engine, one at a time, and carries out the engine's actions.
///
/// Each part of the sync's state has one owner, with a lock of its own: the loop has the engine and what it has to do
/// next, `SyncSession` the device's database and objects that end with it, `MergeLogQueue` the decisions to hand out,
/// `StatusStreams` the reported status, `ChangeListeners` the listening, `SyncProgress` the batches in flight. A
/// `SyncJob` carries out one piece of work.
final class SyncRunner: Sendable {
    private struct PendingEvent {
        var event: SyncEvent
        /// Number of the attempt that the event completes.
        var attempt: Int?
        /// Number of the start whose database the event is about; nil for events that aren't about one.
        var start: Int?
    }

    private struct State {
        var engine: SyncEngine
        /// Number of the start that the engine works for; 0 before the first one.
        var start = 0
        /// Events that the engine hasn't handled yet.
        var events: [PendingEvent] = []
        var isLogPending = false
        var isRecountNeeded = false
        /// True if the next recount must first note that nothing is in flight: an earlier process may have left marks.
        var mustClearInFlight = false
        /// True if a commit may have queued changes that the status doesn't count yet.
        var isUncounted = false
        /// Whether the loop runs, or is about to.
        var isDraining = false
        /// The status as the engine reported it last.
        var status = CloudSyncStatus()
        /// Called when the sync is quiet.
        var waiters: [@Sendable (CloudSyncStatus) -> Void] = []

        /// Returns the status that the app sees. A change that was just committed isn't delivered, even before it
        /// is counted.
        func shownStatus(isEnded: Bool) -> CloudSyncStatus {
            // After the end of the database the pending changes stay pending.
            var shown =
                isEnded
                ? CloudSyncStatus(pendingCount: status.pendingCount, pause: .localDatabase) : status
            if isUncounted, shown.state == .idle { shown.isSyncing = true }
            // The engine reports no status for a response alone.
            shown.lastResponseDate = engine.lastResponseDate
            return shown
        }
    }

    /// Maximum number of statuses or events that are kept for a stream that isn't read.
    private static let bufferedValuesMax = 1000

    let environment: SyncEnvironment
    let zoneHandler: SyncZoneHandler?
    let session = SyncSession()
    let log: MergeLogQueue
    let listeners = ChangeListeners()
    let progress = SyncProgress()
    let events = Broadcast<YapDatabaseCloudKit.Event>(valuesMax: bufferedValuesMax)
    private let statuses = StatusStreams(valuesMax: bufferedValuesMax)
    private let state: Lock<State>

    init(
        environment: SyncEnvironment, zoneHandler: SyncZoneHandler?,
        failures: YapDatabaseCloudKit.FailureHandling
    ) {
        self.environment = environment
        self.zoneHandler = zoneHandler
        log = MergeLogQueue(handler: environment.logBlock)
        // The account in use is read from the database.
        let engine = SyncEngine(
            random: environment.random, failures: failures, account: nil,
            objectsOfDeletedZones: environment.objectsOfDeletedZones)
        state = Lock(State(engine: engine))
    }

    // MARK: Start and end

    /// Begins to sync a database, with the changes that earlier runs left in its queue.
    func start(database: YapDatabase, registeredName: String) {
        let start = session.nextStart()
        let isAcquired = acquireLock(database, registeredName, start: start)
        // Before the session, so that from then on no end of an earlier start's database ends them.
        listeners.begin(start)
        statuses.begin(start)
        events.begin(start)
        guard session.begin(start, database, registeredName) else { return }
        log.begin(start)
        let processLock = environment.processLock
        // The state for the previous database is released after the lock.
        _ = schedule { state -> [DatabaseKey: DatabaseSyncState] in
            // Of two starts at once the newer one counts, and schedules this itself.
            guard session.start == start else { return [:] }
            let previous = state.engine.databases
            if state.start != 0 {
                // Responses to the work for the previous database are ignored from here on.
                state.engine.restart()
                progress.discardBatches()
            }
            state.start = start
            // Read again: the lock may have been acquired meanwhile, and that event came before this one.
            let isHeld = isAcquired || processLock?.isHeld(start: start) == true
            state.events.append(PendingEvent(event: .processLock(isHeld: isHeld)))
            state.mustClearInFlight = isHeld
            state.isLogPending = true
            state.isRecountNeeded = true
            state.isUncounted = true
            return previous
        }
    }

    /// Tries to acquire the lock between processes, and observes the commits of other processes from now on.
    /// - Returns: Whether this process syncs.
    private func acquireLock(_ database: YapDatabase, _ registeredName: String, start: Int) -> Bool {
        let processLock = environment.processLock
        database.addInlineCommitObserver(
            whenEnded: { [weak processLock, weak self] in
                processLock?.release(start: start)
                // The server responds only to the newest pending request of a device, which is the next process's from
                // here on.
                self?.end(start: start)
            }
        ) { [weak self] commit in
            if commit.isExternal { self?.needRecount() }
        }
        guard let processLock else { return true }
        let listener = SyncProcessLock.Listener(
            acquired: { [weak self] in
                self?.schedule {
                    // A start that isn't in effect yet reads the lock again, and a newer one has its own.
                    guard $0.start == start else { return }
                    $0.events.append(PendingEvent(event: .processLock(isHeld: true), start: start))
                    $0.mustClearInFlight = true
                    $0.isRecountNeeded = true
                }
            },
            committed: { [weak self, weak database] snapshot in
                guard let database, snapshot.map({ $0 > database.snapshot }) ?? true else { return }
                // The count begins a transaction, which notices the commit.
                self?.needRecount()
            })
        do {
            return try processLock.acquire(
                path: SyncProcessLock.path(database: database.path, registeredName: registeredName),
                start: start, listener: listener)
        } catch {
            // Two processes that sync cause conflicts, which are merged. No process that syncs would be worse.
            environment.errorBlock(nil, .saying(.internalError, "\(error): syncing without a lock"))
            return true
        }
    }

    /// Ends the sync after the database of a start was closed, unless the sync was started with another database since.
    /// Callers that wait for the sync must not wait forever.
    func end(start: Int) {
        // Numbers instead of a weak reference: reading one may hold the last reference, and its release comes back
        // here.
        guard session.end(start: start) else { return }
        // A later start must not take the work of this one for running. It may have begun since, and keeps its own.
        let isInEffect = state.withLock { state in
            guard state.start <= start else { return false }
            state.status = CloudSyncStatus(pendingCount: state.status.pendingCount, pause: .localDatabase)
            return true
        }
        guard isInEffect else { return }
        environment.scheduler.yield()
        // Under the lock, so that it isn't the wake of a later start. The scheduler calls nothing back.
        state.withLock { if $0.start <= start { wake(atMilliseconds: nil) } }
        reportStatus()
        statuses.finish(start: start)
        events.finish(start: start)
        listeners.endAll(start: start)
    }

    // MARK: Events

    /// Notifies other processes of a commit. Called while the database's writer is held.
    func notifyOtherProcesses(snapshot: UInt64) {
        environment.processLock?.notify(snapshot: snapshot)
    }

    /// Handles a commit that changed the queue or the merge log. Called while the database's writer is held.
    /// - Parameter start: Number of the start that was in effect when the transaction began.
    func committed(_ entries: [CloudMergeLogEntry], isByEngine: Bool, start: Int) {
        let isLogPending = log.add(entries, start: start)
        schedule {
            $0.isLogPending = $0.isLogPending || isLogPending
            guard !isByEngine else { return }
            $0.isRecountNeeded = true
            $0.isUncounted = true
        }
    }

    /// Passes an event to the engine.
    /// - Parameters:
    ///   - attempt: Number of the work that the event completes.
    ///   - start: Number of the start whose database the event is about. After another start it is ignored.
    func post(_ event: SyncEvent, attempt: Int? = nil, start: Int? = nil) {
        let operation = attempt.flatMap { session.removeOperation(attempt: $0) }
        schedule { $0.events.append(PendingEvent(event: event, attempt: attempt, start: start)) }
        withExtendedLifetime(operation) {}
    }

    /// Hands stored decisions of merges to a listener that begins to listen.
    func needStoredLog() {
        log.needStored()
        schedule { $0.isLogPending = true }
    }

    private func needRecount() {
        schedule { $0.isRecountNeeded = true }
    }

    /// Notes a response of the server that reports nothing else. The engine decides nothing, and no status is reported.
    func noteResponse(_ key: DatabaseKey) {
        let now = environment.clock.nowMilliseconds()
        state.withLock { $0.engine.serverResponded(key, now: now) }
    }

    /// The databases with followed zones.
    var followedDatabases: [DatabaseKey] { state.withLock { $0.engine.followedDatabases } }

    var suspendCount: Int { state.withLock { $0.engine.suspendCount } }

    /// - Returns: The new count.
    func changeSuspendCount(by change: Int) -> Int {
        schedule { state in
            let isAllowed = state.engine.changeSuspendCount(by: change)
            let count = state.engine.suspendCount
            if change != 0 {
                state.events.append(PendingEvent(event: .suspendCount(count, isMisuse: !isAllowed)))
            }
            return count
        }
    }

    // MARK: Status

    var status: CloudSyncStatus {
        let isEnded = session.isEnded
        return state.withLock { $0.shownStatus(isEnded: isEnded) }
    }

    /// Returns the status now, and each time it changes.
    func statusStream() -> AsyncStream<CloudSyncStatus> {
        let stream = statuses.stream { status }
        if let ended = session.endedStart { statuses.finish(start: ended) }
        return stream
    }

    func eventStream() -> AsyncStream<YapDatabaseCloudKit.Event> {
        let stream = events.stream()
        if let ended = session.endedStart { events.finish(start: ended) }
        return stream
    }

    private func reportStatus() { statuses.report { status } }

    /// Calls `body` once, when all events so far are handled and no work is running.
    func whenQuiet(_ body: @escaping @Sendable (CloudSyncStatus) -> Void) {
        schedule { $0.waiters.append(body) }
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

    /// Handles events until none is left. Only one thread runs it at a time. An operation that ends at once, on this
    /// thread, only adds its event, so the stack doesn't grow with the queue.
    private func drain() {
        while true {
            let (isLogPending, isRecountNeeded) = state.withLock { state in
                defer { (state.isLogPending, state.isRecountNeeded) = (false, false) }
                return (state.isLogPending, state.isRecountNeeded)
            }
            if isLogPending { handOutLog() }
            if isRecountNeeded { recount() }
            if let (actions, start) = handleNextEvent() {
                for action in actions { perform(action, start: start) }
            } else {
                reportStatus()
                guard let rest = rest() else { continue }
                let status = status
                for waiter in rest.waiters { waiter(status) }
                if rest.isQuiet { session.releaseConnection() }
                return
            }
        }
    }

    /// Lets the engine handle the next event.
    /// - Returns: The actions to perform, and the number of the start that they are for; nil if there is no event.
    private func handleNextEvent() -> (actions: [SyncAction], start: Int)? {
        let now = environment.clock.nowMilliseconds()
        // The events leave the lock with the actions, and are released after it.
        let (_, next) = state.withLock { state -> ([PendingEvent], (actions: [SyncAction], start: Int)?) in
            // Read under the lock: a start schedules its events after it has begun.
            guard !session.isEnded, !state.events.isEmpty else {
                state.isUncounted = state.isRecountNeeded
                defer { state.events = [] }
                return (state.events, nil)
            }
            let event = state.events.removeFirst()
            guard event.start == nil || event.start == state.start else {
                return ([event], ([], state.start))
            }
            let actions = state.engine.handle(event.event, attempt: event.attempt, now: now)
            return ([event], (actions, state.start))
        }
        return next
    }

    /// How the loop ends.
    private struct Rest {
        /// False while work is running.
        var isQuiet: Bool
        /// Called if it is quiet.
        var waiters: [@Sendable (CloudSyncStatus) -> Void] = []
    }

    /// Ends the loop if nothing is left to do; else returns nil.
    private func rest() -> Rest? {
        state.withLock { state in
            guard state.events.isEmpty, !state.isLogPending, !state.isRecountNeeded else { return nil }
            state.isDraining = false
            if state.status.isSyncing, !session.isEnded { return Rest(isQuiet: false) }
            defer { state.waiters = [] }
            return Rest(isQuiet: true, waiters: state.waiters)
        }
    }

    /// - Parameter start: Number of the start that the action is for.
    private func perform(_ action: SyncAction, start: Int) {
        environment.scheduler.yield()
        switch action {
        case .begin(let work, let key, let attempt):
            SyncJob(runner: self, key: key, attempt: attempt, sessionStart: start).run(work)
        case .cancel(_, let attempt): session.removeOperation(attempt: attempt)?.cancel()
        case .count: needRecount()
        case .listen(let key): listen(key, start: start)
        case .wake(let milliseconds): wake(atMilliseconds: milliseconds)
        case .report(let key, let error): report(error, key, start: start)
        case .announce(let event): events.yield(event)
        case .status(let status):
            state.withLock { $0.status = status }
            reportStatus()
        }
    }

    private func wake(atMilliseconds milliseconds: Int64?) {
        environment.scheduler.wake(ObjectIdentifier(self), atMilliseconds: milliseconds) { [weak self] in
            self?.post(.tick)
        }
    }

    // MARK: Counting

    /// Counts the queues, and passes the counts to the engine.
    private func recount() {
        guard let open = session.open() else { return }
        do {
            let counted = try countQueues(open)
            schedule { $0.events += counted.map { PendingEvent(event: $0, start: open.start) } }
        } catch {
            if error.isClosedDatabase { return end(start: open.start) }
            post(.countFailed(message: "the queue can't be read: \(error)"), start: open.start)
        }
    }

    /// Counts the queues at one moment. Before the first sync, notes that nothing is in flight.
    /// - Returns: The events with the counts.
    func countQueues(_ open: OpenDatabase) throws -> [SyncEvent] {
        // A database with an empty queue has no change-set any more.
        let known = state.withLock { $0.engine.databases.keys }
        // Reset before the work: the lock between processes may be acquired during it, which sets it again.
        let mustClear = state.withLock { state in
            guard state.start == open.start else { return false }
            defer { state.mustClearInFlight = false }
            return state.mustClearInFlight
        }
        var unanswered: [DatabaseKey] = []
        do {
            if mustClear { unanswered = try open.clearInFlight(environment.scheduler) }
        } catch {
            state.withLock { if $0.start == open.start { $0.mustClearInFlight = true } }
            throw error
        }
        let counts = try open.counts(of: known)
        environment.scheduler.yield()
        // Unanswered batches first: they must be known before a fetch can begin.
        return unanswered.map { .unanswered($0) } + counts
    }
}

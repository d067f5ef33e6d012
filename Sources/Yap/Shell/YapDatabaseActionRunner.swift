import System

/// Runs the actions of a `YapDatabaseActionManager` when they are due.
///
/// ```swift
/// let runner = YapDatabaseActionRunner(uploads, in: database)
/// async let _ = runner.run { action in try await upload(action.object) }
/// for await isReachable in network { runner.isReachable = isReachable }
/// ```
///
/// `YapDatabase.run(_:runningMax:_:)` is the short form for apps that need neither the network nor the status.
public final class YapDatabaseActionRunner<Object: Sendable>: Sendable {
    /// Performs an action. An error is stored as `YapDatabaseActionStatus.lastFailure`.
    public typealias Handler = @Sendable (_ action: YapDatabaseStartedAction<Object>) async throws -> Void

    /// Maximum number of actions running at once.
    public let runningMax: Int

    private let manager: YapDatabaseActionManager<Object>
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let clock: any TimeSource
    private let timers: any TimerSource
    private let state = Lock(State())

    /// Maximum backward change of the clock that is ignored. Time synchronization makes smaller changes
    /// often.
    private static var toleranceMilliseconds: Int64 { 1_000 }

    private struct State {
        var suspendCount = 0
        /// Latest time that the clock has shown since `run` began or since it was set back.
        var latestMilliseconds: Int64 = .min
        var isReachable = true
        var running: [YapDatabaseActionID] = []
        var lastFailure: YapDatabaseActionStatus.Failure?
        /// The published status: after starts and at the end of a turn, so that its parts are consistent.
        var status = YapDatabaseActionStatus(obstacle: .notRunning)
        /// Starts a turn. Nil while `run` isn't running.
        var wake: (@Sendable () -> Void)?
        var cancelTimer: TimerCancel?
        var readers: [Int: AsyncStream<YapDatabaseActionStatus>.Continuation] = [:]
        var lastReader = 0
    }

    /// Creates a runner. It does nothing until `run` is called.
    ///
    /// - Parameters:
    ///   - manager: The actions. They must be registered before `run`.
    ///   - database: The database.
    ///   - runningMax: Maximum number of actions running at once, from 1 to 1,000.
    ///   - clock: The clock that decides which actions are due. Default: the machine's clock. A test passes a manual
    ///     one.
    public convenience init(
        _ manager: YapDatabaseActionManager<Object>, in database: YapDatabase, runningMax: Int = 4,
        clock: YapDatabaseActionClock = .system
    ) {
        self.init(
            manager, in: database, runningMax: runningMax, clock: clock.time, timers: clock.timers)
    }

    /// Creates a runner with a clock and timers.
    package init(
        _ manager: YapDatabaseActionManager<Object>, in database: YapDatabase, runningMax: Int,
        clock: any TimeSource, timers: any TimerSource
    ) {
        (self.manager, self.database, self.clock, self.timers) = (manager, database, clock, timers)
        self.runningMax = min(max(1, runningMax), 1_000)
        connection = database.newConnection()
    }

    // MARK: Control

    /// Whether actions that require the network may start. Default: true. Running actions continue.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set {
            state.withLock { $0.isReachable = newValue }
            wake()
        }
    }

    /// Prevents starts of actions until `resume()` was called as often as this method. Running actions
    /// continue.
    ///
    /// - Returns: Number of `resume()` calls needed.
    @discardableResult
    public func suspend() -> Int {
        let count = state.withLock { state in
            state.suspendCount += 1
            return state.suspendCount
        }
        wake()
        return count
    }

    /// Reverts one `suspend()`. Does nothing if the runner isn't suspended.
    ///
    /// - Returns: Number of `resume()` calls still needed.
    @discardableResult
    public func resume() -> Int {
        let count = state.withLock { state in
            state.suspendCount = max(0, state.suspendCount - 1)
            return state.suspendCount
        }
        wake()
        return count
    }

    /// Running actions, the next action, and why it hasn't started yet.
    public var status: YapDatabaseActionStatus { state.withLock { $0.status } }

    /// The status now and after each change. A slow reader gets the newest one. The sequence doesn't end by itself.
    public var statuses: AsyncStream<YapDatabaseActionStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: YapDatabaseActionStatus.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            // Inside the lock, so that it can't follow a newer status. The buffer is empty, so nothing is released.
            continuation.yield(state.status)
            return state.lastReader
        }
        continuation.onTermination = { [weak self] _ in self?.removeReader(number) }
        return stream
    }

    private func removeReader(_ number: Int) {
        // Released after the lock.
        let removed = state.withLock { $0.readers.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
    }

    /// Publishes a status with the actions that are running now.
    private func publish(_ change: (inout YapDatabaseActionStatus) -> Void) {
        // The previous status is released after the lock, because it may own an error of the app.
        let (before, status, readers) = state.withLock { state in
            let before = state.status
            change(&state.status)
            (state.status.running, state.status.lastFailure) = (state.running, state.lastFailure)
            return (before, state.status, Array(state.readers.values))
        }
        withExtendedLifetime(before) {}
        for reader in readers { reader.yield(status) }
    }

    private func publish(_ plan: ActionPlan) {
        publish { status in
            (status.next, status.obstacle, status.snapshot) = (plan.next, plan.obstacle, plan.snapshot)
        }
    }

    /// Records the running actions and an error, for the next published status.
    private func note(
        _ failure: YapDatabaseActionStatus.Failure?,
        _ change: (inout [YapDatabaseActionID]) -> Void = { _ in }
    ) {
        // Released after the lock.
        let before = state.withLock { state in
            let before = state.lastFailure
            change(&state.running)
            if let failure { state.lastFailure = failure }
            return before
        }
        withExtendedLifetime(before) {}
    }

    private func wake() { state.withLock { $0.wake }?() }

    // MARK: Running

    /// Starts actions when they are due, until the task is cancelled or the database is closed.
    ///
    /// It waits for commits, also of other processes, and for dates; it doesn't poll. Cancelling the task cancels the
    /// handlers, and `run` waits for them to end. When the database is closed, `run` returns after the handlers have
    /// ended; they aren't cancelled.
    ///
    /// If the clock is set back, actions with retry times of the earlier clock are due again.
    ///
    /// - Parameter handler: Performs an action. Several calls run at once. The handler ends an action by writing the
    ///   object without it. Otherwise, and after an error, the action is started again after its retry time. The
    ///   handler isn't cancelled if its action changes or ends meanwhile.
    /// - Throws: `CancellationError`; `YapDatabaseError`: `closed` if the database was closed before,
    ///   `extensionNotRegistered`, `invalidExtension` if this runner is running already, or an error of the file. It
    ///   retries after `busy` and `diskFull`.
    public func run(_ handler: @escaping Handler) async throws {
        if database.isClosed { throw YapDatabaseError(.closed, "the database was closed") }
        let (wakes, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        try begin { continuation.yield() }
        defer { end() }
        // Subscribed before the first read, so that no commit is missed.
        let commits = database.commits
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                for await commit in commits where self.isConcerned(by: commit) { continuation.yield() }
                continuation.finish()
            }
            do {
                try await self.correctStarts()
                continuation.yield()
                for await _ in wakes { try await self.turn(&group, handler) }
            } catch let error as YapDatabaseError where error.code == .closed && database.isClosed {
                // The database was closed during a turn. Otherwise the commits have ended, and `wakes` with
                // them.
            }
        }
        try Task.checkCancellation()
    }

    private func begin(_ wake: @escaping @Sendable () -> Void) throws {
        let isFirst = state.withLock { state in
            guard state.wake == nil else { return false }
            state.wake = wake
            return true
        }
        guard isFirst else {
            throw YapDatabaseError(.invalidExtension, "this runner of \"\(manager.name)\" runs already")
        }
    }

    private func end() {
        arm(nil)
        let wake = state.withLock { state in
            defer { (state.wake, state.latestMilliseconds) = (nil, .min) }
            return state.wake
        }
        withExtendedLifetime(wake) {}
        publish { ($0.next, $0.obstacle) = (nil, .notRunning) }
    }

    private func isConcerned(by commit: YapDatabaseCommit) -> Bool {
        if commit.mayMissChanges(ofExtension: manager.name) { return true }
        return (commit.changes(ofExtension: manager.name) as? ActionChanges)?.isOfActions == true
    }

    /// Records the time, and corrects the starts if the clock was set back.
    private func checkClock() async throws {
        let now = clock.nowMilliseconds()
        let isSetBack = state.withLock { now + Self.toleranceMilliseconds < $0.latestMilliseconds }
        if isSetBack { try await correctStarts() }
        state.withLock { $0.latestMilliseconds = isSetBack ? now : max(now, $0.latestMilliseconds) }
    }

    private func correctStarts() async throws {
        let (manager, now) = (manager, clock.nowMilliseconds())
        try await tryingAgain {
            guard try await connection.read({ try $0[manager].hasStartsAfterClockWasAhead(now: now) }) else {
                return
            }
            try await connection.readWrite { try $0[manager].correctStarts(now: now) }
        }
    }

    /// Starts the due actions, and sets the timer for the next one.
    private func turn(_ group: inout ThrowingDiscardingTaskGroup<any Error>, _ handler: @escaping Handler)
        async throws
    {
        while true {
            try await checkClock()
            var starts: [ActionStart<Object>]?
            try await tryingAgain { starts = try await startNext() }
            guard let starts else { return }
            for start in starts {
                guard case .success(let action) = start.result else { continue }
                group.addTask { await self.perform(action, handler) }
            }
        }
    }

    /// Starts as many of the due actions as may run.
    ///
    /// - Returns: Nil if there are none; the timer is set then. Empty if other processes have started them.
    private func startNext() async throws -> [ActionStart<Object>]? {
        let (manager, circumstances) = (manager, circumstances())
        let plan = try await connection.read { try $0[manager].plan(circumstances) }
        guard !plan.due.isEmpty else {
            arm(plan.wakeMilliseconds)
            publish(plan)
            return nil
        }
        let starts = try await connection.readWrite {
            try $0[manager].start(plan, now: circumstances.milliseconds)
        }
        for start in starts {
            switch start.result {
            case .success: note(nil) { $0.append(start.id) }
            case .failure(let error): note(.init(id: start.id, error: error))
            }
        }
        // Before the status is published, because it contains the date for which the timer is set.
        arm(plan.wakeMilliseconds)
        publish(plan)
        return starts
    }

    private func circumstances() -> ActionCircumstances {
        let now = clock.nowMilliseconds()
        return state.withLock { state in
            let isSuspended = state.suspendCount > 0
            return ActionCircumstances(
                milliseconds: now, freeCount: isSuspended ? 0 : runningMax - state.running.count,
                running: state.running, isReachable: state.isReachable, isSuspended: isSuspended)
        }
    }

    private func perform(_ action: YapDatabaseStartedAction<Object>, _ handler: Handler) async {
        var failure: YapDatabaseActionStatus.Failure?
        do {
            try await handler(action)
        } catch {
            if !(error is CancellationError) { failure = .init(id: action.id, error: error) }
        }
        note(failure) { $0.removeAll { $0 == action.id } }
        wake()
    }

    /// Sets the timer, and cancels the previous one.
    private func arm(_ milliseconds: Int64?) {
        let dayMilliseconds: Int64 = 86_400_000
        let cancel = milliseconds.map { milliseconds in
            let pause = min(max(0, milliseconds - clock.nowMilliseconds()), dayMilliseconds)
            return timers.after(milliseconds: pause) { [weak self] in self?.wake() }
        }
        let before = state.withLock { state in
            defer { state.cancelTimer = cancel }
            return state.cancelTimer
        }
        before?()
    }

    /// Runs `body`. After a temporary error, another turn starts a second later.
    private func tryingAgain(_ body: () async throws -> Void) async throws {
        let pauseMilliseconds: Int64 = 1000
        do {
            try await body()
        } catch let error as YapDatabaseError where isTransient(error) {
            arm(clock.nowMilliseconds() + pauseMilliseconds)
            publish { $0.obstacle = .database }
        }
    }

    private func isTransient(_ error: YapDatabaseError) -> Bool {
        switch error.code {
        case .busy, .diskFull: true
        // The extension is registered, but misses changes of another process, so it can't be read for a
        // while.
        case .extensionNotRegistered: database.registeredExtensionNames.contains(manager.name)
        default: false
        }
    }
}

extension YapDatabase {
    /// Runs the actions of a manager when they are due, until the task is cancelled or the database is closed.
    ///
    /// ```swift
    /// try await database.run(uploads) { action in try await upload(action.object) }
    /// ```
    ///
    /// - Parameters:
    ///   - manager: The registered actions.
    ///   - runningMax: Maximum number of actions running at once, from 1 to 1,000.
    ///   - clock: The clock that decides which actions are due.
    ///   - handler: Performs an action: see `YapDatabaseActionRunner.run(_:)`.
    /// - Throws: The errors of `YapDatabaseActionRunner.run(_:)`.
    public func run<Object: Sendable>(
        _ manager: YapDatabaseActionManager<Object>, runningMax: Int = 4,
        clock: YapDatabaseActionClock = .system, _ handler: @escaping YapDatabaseActionRunner<Object>.Handler
    ) async throws {
        let runner = YapDatabaseActionRunner(manager, in: self, runningMax: runningMax, clock: clock)
        try await runner.run(handler)
    }
}

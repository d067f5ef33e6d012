import CloudStore
import CloudWire
import System

/// The work of one request, split where the thread changes.
struct ServiceJob: Sendable {
    /// Bytes of memory that the job holds until it is finished.
    let bytes: Int
    /// The owner of its queue.
    let owner: String
    /// Cancelled when the caller has disconnected.
    var cancellation = ServiceCancellation()
    /// Prepares the request, on a reader's thread.
    let begin: @Sendable () -> PreparedRequest
    /// Encodes and delivers the response, on a reader's thread.
    let finish: @Sendable (PreparedRequest, ServiceAnswer, _ groupRequests: Int) -> Void
    /// Responds that nothing was done.
    let refuse: @Sendable () -> Void
}

/// The threads of a service, and the queues between them.
///
/// A reader executes a job. Its write is passed to the writer, and the result back to a reader. All
/// unfinished jobs are counted, so their limit bounds every queue.
final class ServiceThreads: Sendable {
    static let refusal = ServiceError.tryAgainLater(
        "the service is busy or stopping", retryAfterSeconds: ServiceFailure.retryAfterSeconds)

    let service: CloudService
    private let readerCount: Int
    private let source: ThreadSource
    /// Processor time of the current thread in microseconds.
    private let threadTime: @Sendable () -> Int
    /// Measures the cooldowns.
    private let monotonicClock: any MonotonicSource
    private let monitor: Monitor<State>
    private let forReaders = Condition()
    private let forWriter = Condition()
    private let forEnd = Condition()

    private struct State {
        var new: ReaderQueue
        /// The jobs in progress, by owner.
        var shares: [String: Share] = [:]
        var writes = WriteQueue()
        var rests = WriterCooldowns()
        var answered = FirstInFirstOut<AnsweredWrite>()
        var jobsCount = 0
        var jobsBytes = 0
        var runningReaders = 0
        var hasWriter = false
        /// True if there may be pushes to make, or expired data to discard. True at the start.
        var wantsUpkeep = true
        /// True if the last upkeep failed, for example on a full disk. It is retried after a while even
        /// without requests, since a device may wait for a push or an operator for a webhook.
        var upkeepFailed = false
        /// True if upkeep had the writer last: writes and upkeep take turns.
        var upkeepWasLast = true
        /// True while a reader's thread runs a checkpoint.
        var makesCheckpoint = false
        var isEnding = false

        var isOver: Bool { isEnding && jobsCount == 0 }

        mutating func begin(_ job: ServiceJob) {
            jobsCount += 1
            jobsBytes += job.bytes
            shares[job.owner, default: Share()].count += 1
            shares[job.owner, default: Share()].bytes += job.bytes
        }

        mutating func end(_ job: ServiceJob) {
            jobsCount -= 1
            jobsBytes -= job.bytes
            guard var share = shares[job.owner] else { return }
            share.count -= 1
            share.bytes -= job.bytes
            shares[job.owner] = share.count > 0 ? share : nil
        }
    }

    /// Jobs and bytes queued for one owner.
    private struct Share {
        var count = 0
        var bytes = 0
    }

    init(
        _ service: CloudService, readerCount: Int,
        source: ThreadSource = .system,
        threadTime: @escaping @Sendable () -> Int = SystemThread.usedMicroseconds,
        monotonicClock: any MonotonicSource = SystemMonotonicSource()
    ) {
        self.threadTime = threadTime
        self.monotonicClock = monotonicClock
        monitor = Monitor(State(new: ReaderQueue(readersCount: readerCount)))
        self.service = service
        self.readerCount = readerCount
        self.source = source
    }

    /// Starts the threads that aren't running yet. Returns true if there are enough to respond to every
    /// request.
    func start() -> Bool {
        let missing = monitor.withLock { state -> (readers: Int, writer: Bool) in
            defer {
                // Counted before they run, so that another caller doesn't start them too.
                state.runningReaders = readerCount
                state.hasWriter = true
            }
            return (readerCount - state.runningReaders, !state.hasWriter)
        }
        let failedReaders = (0..<missing.readers).count { _ in !startThread { self.runReader() } }
        let writerFailed = missing.writer && !startThread { self.runWriter() }
        return monitor.withLock { state in
            state.runningReaders -= failedReaders
            if writerFailed { state.hasWriter = false }
            return state.runningReaders > 0 && state.hasWriter
        }
    }

    /// Starts a thread. Returns false if the system has none left.
    private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = try? source.start(name: "yap service", body) else { return false }
        thread.detach()
        return true
    }

    /// Queues the job, or rejects it on the calling thread if there is no room.
    func take(_ job: ServiceJob) {
        let limits = service.groupLimits
        enum Result { case taken, full, withoutThreads }
        func tryOnce() -> Result {
            monitor.withLock { state in
                let share = state.shares[job.owner] ?? Share()
                if state.isEnding
                    || limits.isFull(of: state.jobsCount, limits.waitingRequestsMax, own: share.count)
                    || limits.isFull(of: state.jobsBytes, limits.waitingBytesMax, own: share.bytes)
                {
                    return .full
                }
                guard state.runningReaders > 0, state.hasWriter else { return .withoutThreads }
                state.begin(job)
                state.new.append(job)
                return .taken
            }
        }
        var result = tryOnce()
        if result == .withoutThreads, start() { result = tryOnce() }
        guard result == .taken else { return job.refuse() }
        forReaders.signal()
    }

    func askToEnd() {
        monitor.withLock { $0.isEnding = true }
        wakeEverybody()
    }

    func waitForEnd() {
        monitor.wait(on: forEnd) { state in
            state.runningReaders == 0 && !state.hasWriter ? () : nil
        }
    }

    private func wakeEverybody() {
        forReaders.broadcast()
        forWriter.broadcast()
        forEnd.broadcast()
    }

    // MARK: Readers

    private enum ReaderStep {
        case begin(ServiceJob)
        case finish(AnsweredWrite)
        case checkpoint
        case end
    }

    private func runReader() {
        while true {
            // Responses of completed writes are sent before new jobs begin.
            let step = monitor.wait(on: forReaders) { state -> ReaderStep? in
                if let answered = state.answered.popFirst() { return .finish(answered) }
                if !state.makesCheckpoint && !state.isEnding && service.store.checkpointIsDue {
                    state.makesCheckpoint = true
                    return .checkpoint
                }
                if let job = state.new.popFirst() { return .begin(job) }
                return state.isOver ? .end : nil
            }
            switch step {
            case .begin(let job): begin(job)
            case .finish(let answered): finish(answered)
            case .checkpoint:
                // This thread may have been woken for another request.
                forReaders.signal()
                service.store.checkpoint()
                monitor.withLock { $0.makesCheckpoint = false }
            case .end:
                monitor.withLock { $0.runningReaders -= 1 }
                forEnd.broadcast()
                return
            }
        }
    }

    private func begin(_ job: ServiceJob) {
        let started = threadTime()
        let write = read(job)
        let isOver = monitor.withLock { state in
            state.new.end(job, microseconds: threadTime() - started)
            if let write {
                state.writes.append(write)
                state.rests.notice(write.owner, at: monotonicClock.elapsedMilliseconds())
            } else {
                state.end(job)
            }
            return state.isOver
        }
        if write != nil {
            forWriter.signal()
        } else if isOver {
            wakeEverybody()
        }
    }

    /// Executes a job that only reads. Returns nil if nothing is left to do for it.
    private func read(_ job: ServiceJob) -> WaitingWrite? {
        guard job.cancellation.begin() else {
            job.refuse()
            return nil
        }
        let request = job.begin()
        if case .write(let body) = request.work {
            job.cancellation.postpone()
            return WaitingWrite(job: job, request: request, body: body)
        }
        job.finish(request, request.work.answerAlone(in: service.store), 0)
        noticeUpkeep()
        return nil
    }

    private func finish(_ answered: AnsweredWrite) {
        let write = answered.write
        write.job.finish(write.request, answered.answer, answered.groupRequests)
        end(write.job)
    }

    private func end(_ job: ServiceJob) {
        let isOver = monitor.withLock { state in
            state.end(job)
            return state.isOver
        }
        if isOver { wakeEverybody() }
    }

    // MARK: The writer

    private enum WriterStep {
        case group([WaitingWrite])
        case upkeep
        case end
    }

    private func runWriter() {
        while true {
            let step = monitor.wait(on: forWriter, pause: { self.pause(of: &$0) }) {
                state, timeIsUp -> WriterStep? in
                if timeIsUp && state.upkeepFailed { state.wantsUpkeep = true }
                let now = monotonicClock.elapsedMilliseconds()
                let mayKeepUp =
                    state.wantsUpkeep && !state.isEnding
                    && !state.rests.contains(WriterCooldowns.upkeep, at: now)
                if mayKeepUp && !state.upkeepWasLast { return .upkeep }
                let (rests, isEnding) = (state.rests, state.isEnding)
                let group = state.writes.take(within: service.groupLimits) {
                    isEnding || !rests.contains($0, at: now)
                }
                if !group.isEmpty { return .group(group) }
                if mayKeepUp { return .upkeep }
                return state.isOver ? .end : nil
            }
            switch step {
            case .group(let group): write(group)
            case .upkeep: keepUp()
            case .end:
                monitor.withLock { $0.hasWriter = false }
                forEnd.broadcast()
                return
            }
        }
    }

    /// Returns the longest time for which the writer sleeps.
    private func pause(of state: inout State) -> Int64? {
        let rest = state.rests.next(at: monotonicClock.elapsedMilliseconds())
        guard state.upkeepFailed else { return rest }
        return min(rest ?? .max, service.groupLimits.retryMilliseconds)
    }

    private func write(_ taken: [WaitingWrite]) {
        var (group, cancelled): ([WaitingWrite], [WaitingWrite]) = ([], [])
        for write in taken {
            if write.job.cancellation.begin() { group.append(write) } else { cancelled.append(write) }
        }
        refuse(cancelled)
        guard !group.isEmpty else { return }
        let milliseconds = service.groupLimits.milliseconds(
            ownersCount: Set(group.map(\.owner)).count,
            isContested: monitor.withLock { $0.writes.isContested })
        var took: [String: Int] = [:]
        let groupBegan = threadTime()
        var began = groupBegan
        let answers = service.groups.write(
            group.map(\.body), milliseconds: milliseconds, preparesPushes: true
        ) {
            let now = threadTime()
            took[group[$0].owner, default: 0] += now - began
            began = now
        }
        let groupTook = threadTime() - groupBegan
        let postponed = zip(group, answers).filter { $1 == nil }.map(\.0)
        for write in postponed { write.job.cancellation.postpone() }
        monitor.withLock { state in
            for (write, answer) in zip(group, answers) {
                guard let answer else { continue }
                state.answered.append(
                    AnsweredWrite(write: write, answer: answer, groupRequests: group.count - postponed.count))
            }
            state.writes.putBack(postponed)
            let now = monotonicClock.elapsedMilliseconds()
            // The commit's time is divided in proportion to the decisions' times, since a user with many rows
            // fills the log.
            let membersTook = max(1, took.values.reduce(0, +))
            for (owner, time) in took { rest(owner, after: time * groupTook / membersTook, at: now, &state) }
            state.wantsUpkeep = service.upkeep.isWanted
            state.upkeepWasLast = false
        }
        for _ in 0..<min(group.count, readerCount) { forReaders.signal() }
    }

    /// Begins the cooldown of an owner that used the writer for long.
    private func rest(_ owner: String, after microseconds: Int, at now: Int64, _ state: inout State) {
        let milliseconds = Int64(microseconds / 1_000)
        guard milliseconds > service.groupLimits.userMilliseconds else { return }
        state.rests.begin(owner, after: milliseconds, at: now)
    }

    /// Rejects writes whose callers have disconnected. They are not executed.
    private func refuse(_ writes: [WaitingWrite]) {
        guard !writes.isEmpty else { return }
        monitor.withLock { state in
            for write in writes {
                state.answered.append(
                    AnsweredWrite(write: write, answer: .error(Self.refusal), groupRequests: 0))
            }
        }
        for _ in 0..<min(writes.count, readerCount) { forReaders.signal() }
    }

    private func keepUp() {
        // A failed step is retried after the next write, on request, or after a while.
        let began = threadTime()
        let wantsMore = try? service.upkeep.keepUpInTurn()
        let (time, now) = (threadTime() - began, monotonicClock.elapsedMilliseconds())
        monitor.withLock { state in
            rest(WriterCooldowns.upkeep, after: time, at: now, &state)
            state.wantsUpkeep = wantsMore ?? false
            state.upkeepFailed = wantsMore == nil
            state.upkeepWasLast = true
        }
        // No response wakes a reader after it.
        if service.store.checkpointIsDue { forReaders.signal() }
    }

    /// Makes the writer check for upkeep.
    func noticeUpkeep() {
        guard service.upkeep.isWanted else { return }
        monitor.withLock { $0.wantsUpkeep = true }
        forWriter.signal()
    }
}

/// A write that waits for its group commit.
struct WaitingWrite: Sendable {
    let job: ServiceJob
    let request: PreparedRequest
    let body: ServiceWork.Write

    /// The authenticated user, or the owner of the job.
    var owner: String { request.userRecordName.map(KnownCallers.owner) ?? job.owner }
}

/// A write that is durable, or rejected.
private struct AnsweredWrite: Sendable {
    let write: WaitingWrite
    let answer: ServiceAnswer
    let groupRequests: Int
}

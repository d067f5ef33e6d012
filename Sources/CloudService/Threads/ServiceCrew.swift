import CloudWire

/// What one caller wants, cut where the thread changes.
struct ServiceJob: Sendable {
    /// What the job holds in memory until it is finished.
    let bytes: Int
    /// In whose line it waits.
    let owner: String
    /// Reads the request, on a reader's thread.
    let begin: @Sendable () -> PreparedRequest
    /// Encodes and hands over the answer, on a reader's thread.
    let finish: @Sendable (PreparedRequest, ServiceAnswer, _ groupRequests: Int) -> Void
}

/// The threads of a service, and the queues between them.
///
/// A job goes to a reader; what writes goes on to the writer, and with its answer back to a reader. All jobs that
/// have begun and not ended are counted, so the limit on them bounds every queue.
final class ServiceCrew: Sendable {
    static let refusal = ServiceError.tryAgainLater(
        "the service is busy or stopping", retryAfterSeconds: ServiceFailure.retryAfterSeconds)

    let service: CloudService
    private let readerCount: Int
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    private let monitor = Monitor(State(), conditionCount: 3)
    private static let readers = 0
    private static let writer = 1
    private static let end = 2

    private struct State {
        var new = FairQueue<ServiceJob>()
        /// What has begun and not ended, by whose it is.
        var shares: [String: Share] = [:]
        var writes = WriteQueue()
        var answered = FirstInFirstOut<AnsweredWrite>()
        var jobsCount = 0
        var jobsBytes = 0
        var runningReaders = 0
        var hasWriter = false
        /// True when there may be pushes to prepare, or something to discard: also at the start.
        var wantsUpkeep = true
        /// True when the last upkeep failed, as on a full disk: it is tried again after a while, whether anybody asks
        /// or not, since somebody may wait for a push or an operator for a webhook.
        var upkeepFailed = false
        /// Who had the writer last: writes and upkeep take turns.
        var upkeepWasLast = true
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

    /// What one has waiting.
    private struct Share {
        var count = 0
        var bytes = 0
    }

    init(
        _ service: CloudService, readerCount: Int,
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool
    ) {
        self.service = service
        self.readerCount = readerCount
        self.startThread = startThread
    }

    /// Starts the threads that don't run yet. True when there are enough to answer every request.
    func start() -> Bool {
        let missing = monitor.withLock { state -> (readers: Int, writer: Bool) in
            defer {
                // Counted before they run, so that no other caller starts them too.
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

    /// False when the job can't be taken now; then nothing of it is run.
    func take(_ job: ServiceJob) -> Bool {
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
                state.new.append(job, of: job.owner, bytes: job.bytes)
                return .taken
            }
        }
        var result = tryOnce()
        if result == .withoutThreads, start() { result = tryOnce() }
        if result == .taken { monitor.wakeOne(Self.readers) }
        return result == .taken
    }

    func askToEnd() {
        monitor.withLock { $0.isEnding = true }
        wakeEverybody()
    }

    func waitForEnd() {
        monitor.wait(on: Self.end) { state in
            state.runningReaders == 0 && !state.hasWriter ? () : nil
        }
    }

    private func wakeEverybody() {
        monitor.wakeAll(Self.readers)
        monitor.wakeAll(Self.writer)
        monitor.wakeAll(Self.end)
    }

    // MARK: Readers

    private enum ReaderStep {
        case begin(ServiceJob)
        case finish(AnsweredWrite)
        case end
    }

    private func runReader() {
        while true {
            // What was written is answered before something new is begun.
            let step = monitor.wait(on: Self.readers) { state -> ReaderStep? in
                if let answered = state.answered.popFirst() { return .finish(answered) }
                if let job = state.new.popFirst() { return .begin(job) }
                return state.isOver ? .end : nil
            }
            switch step {
            case .begin(let job): begin(job)
            case .finish(let answered): finish(answered)
            case .end:
                monitor.withLock { $0.runningReaders -= 1 }
                monitor.wakeAll(Self.end)
                return
            }
        }
    }

    private func begin(_ job: ServiceJob) {
        let request = job.begin()
        guard case .write(let body) = request.work else {
            job.finish(request, service.answerAlone(request.work), 0)
            noticeUpkeep()
            return end(job)
        }
        monitor.withLock { $0.writes.append(WaitingWrite(job: job, request: request, body: body)) }
        monitor.wakeOne(Self.writer)
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
            let pause = service.groupLimits.retryMilliseconds
            let step = monitor.wait(on: Self.writer, pause: { $0.upkeepFailed ? pause : nil }) {
                state, timeIsUp -> WriterStep? in
                if timeIsUp { state.wantsUpkeep = true }
                if state.wantsUpkeep && !state.isEnding && !state.upkeepWasLast { return .upkeep }
                let group = state.writes.take(within: service.groupLimits)
                if !group.isEmpty { return .group(group) }
                if state.wantsUpkeep && !state.isEnding { return .upkeep }
                return state.isOver ? .end : nil
            }
            switch step {
            case .group(let group): write(group)
            case .upkeep: keepUp()
            case .end:
                monitor.withLock { $0.hasWriter = false }
                monitor.wakeAll(Self.end)
                return
            }
        }
    }

    private func write(_ group: [WaitingWrite]) {
        let milliseconds = service.groupLimits.milliseconds(
            ownersCount: Set(group.map(\.owner)).count,
            isContested: monitor.withLock { $0.writes.isContested })
        let answers = service.write(group.map(\.body), milliseconds: milliseconds, preparesPushes: true)
        let postponed = zip(group, answers).filter { $1 == nil }.map(\.0)
        monitor.withLock { state in
            for (write, answer) in zip(group, answers) {
                guard let answer else { continue }
                state.answered.append(
                    AnsweredWrite(write: write, answer: answer, groupRequests: group.count - postponed.count))
            }
            state.writes.putBack(postponed)
            state.wantsUpkeep = service.wantsUpkeep
            state.upkeepWasLast = false
        }
        for _ in 0..<min(group.count, readerCount) { monitor.wakeOne(Self.readers) }
    }

    private func keepUp() {
        // A step that failed is tried again after the next write, when somebody asks, or after a while.
        let wantsMore = try? service.keepUp()
        monitor.withLock { state in
            state.wantsUpkeep = wantsMore ?? false
            state.upkeepFailed = wantsMore == nil
            state.upkeepWasLast = true
        }
    }

    /// Lets the writer look whether there is upkeep to do.
    func noticeUpkeep() {
        guard service.wantsUpkeep else { return }
        monitor.withLock { $0.wantsUpkeep = true }
        monitor.wakeOne(Self.writer)
    }
}

/// A write that waits for its group.
struct WaitingWrite: Sendable {
    let job: ServiceJob
    let request: PreparedRequest
    let body: ServiceWork.Write

    /// Whose it is is known by now.
    var owner: String { request.userRecordName.map(KnownCallers.owner) ?? job.owner }
}

/// A write that is on disk, or refused.
private struct AnsweredWrite: Sendable {
    let write: WaitingWrite
    let answer: ServiceAnswer
    let groupRequests: Int
}

/// The writes that wait, handed out in groups.
struct WriteQueue {
    /// Requests in a group of several users, however little one of them has waiting: fewer would cost too many syncs.
    static let sharedRequestsMin = 8
    /// After so many groups of one user alone nobody else is there.
    static let loneGroupsMax = 500

    private var writes = FairQueue<WaitingWrite>()
    private var loneGroupsCount = loneGroupsMax
    private var lastOwner: String?

    /// Whether another user has written lately, and may do so again: then nobody's groups are long.
    var isContested: Bool { loneGroupsCount < Self.loneGroupsMax }

    mutating func append(_ write: WaitingWrite) {
        writes.append(write, of: write.owner, bytes: write.request.bytes)
    }

    mutating func putBack(_ postponed: [WaitingWrite]) {
        writes.putBack(postponed.map { ($0, $0.owner, $0.request.bytes) })
    }

    /// The oldest writes of each in turn, as many as fit into a group.
    ///
    /// Of several users' writes, no more than those of who has the fewest: who has brought one write waits for the
    /// sync, and not for all that somebody else has waiting.
    mutating func take(within limits: GroupLimits) -> [WaitingWrite] {
        var group: [WaitingWrite] = []
        var bytes = 0
        let ownersCount = writes.ownersCount
        var left = 0
        while group.count < limits.requestsMax, bytes < limits.bytesMax {
            if left == 0 {
                let someoneIsDone = writes.ownersCount < ownersCount
                if someoneIsDone && ownersCount > 1 && group.count >= Self.sharedRequestsMin { break }
                left = writes.ownersCount
            }
            guard let write = writes.popFirst() else { break }
            left -= 1
            bytes += write.request.bytes
            group.append(write)
        }
        notice(group, ownersCount)
        return group
    }

    private mutating func notice(_ group: [WaitingWrite], _ ownersCount: Int) {
        guard let owner = group.first?.owner else { return }
        let isLone = ownersCount == 1 && (lastOwner == nil || owner == lastOwner)
        loneGroupsCount = isLone ? min(loneGroupsCount + 1, Self.loneGroupsMax) : 0
        lastOwner = owner
    }
}

import System
import YapCloudKit

/// A process of a device, as far as its threads and timers go: all that it does later is an event of its own.
final class Process: SyncScheduler, TimerSource, @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
    let owner: EventQueue.Owner
    private let queue: EventQueue
    private let clock: DeviceClock
    private let draws: Draws
    /// In how many of a thousand pieces of work others may come between two steps.
    private let interruptionsPerMille: Int
    private var performedCount = 0
    /// When the last piece of work begins: they begin in the order in which they were asked for.
    private var lastWorkMilliseconds: Int64 = 0
    private var wakes: [ObjectIdentifier: (number: Int, count: Int)] = [:]
    private var wakesCount = 0
    /// Work that is to be done soon.
    private(set) var waitingWorkCount = 0
    private(set) var isDead = false
    /// What a dead process would do: it finds out that its file is closed, and lets go of it.
    private var leftWork: [() -> Void] = []
    /// The sync's own thread does one piece of work after the other: what waits while one stands still.
    private var serialWork: [() -> Void] = []
    private var isSerialWorkUnderWay = false
    private var runsCount = 0
    private var yieldsCount = 0
    /// What runs just now, when it may stand still.
    private var current: SimulatedThread?
    private var standing: [Int: SimulatedThread] = [:]

    init(
        _ owner: EventQueue.Owner, _ queue: EventQueue, _ clock: DeviceClock, _ draws: Draws,
        interruptionsPerMille: Int
    ) {
        self.owner = owner
        self.interruptionsPerMille = interruptionsPerMille
        self.queue = queue
        self.clock = clock
        self.draws = draws
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        if isDead { return leftWork.append(work) }
        performedCount += 1
        // Threads take their time: what is asked for first, of two processes or of the network, may come second.
        let delay = Int64(draws.number(in: 0..<3, "work \(performedCount)"))
        lastWorkMilliseconds = max(lastWorkMilliseconds, queue.nowMilliseconds + delay)
        waitingWorkCount += 1
        queue.schedule(after: lastWorkMilliseconds - queue.nowMilliseconds, for: owner) {
            self.waitingWorkCount -= 1
            self.runSerially(work)
        }
    }

    func wake(_ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void) {
        if let wake = wakes.removeValue(forKey: owner) { queue.cancel(wake.number) }
        guard let atMilliseconds, !isDead else { return }
        wakesCount += 1
        let count = wakesCount
        let number = queue.schedule(after: atMilliseconds - clock.nowMilliseconds(), for: self.owner) {
            self.runSerially {
                guard self.wakes[owner]?.count == count else { return }
                self.wakes[owner] = nil
                work()
            }
        }
        wakes[owner] = (number, count)
    }

    /// Whether a time is set at which the sync goes on.
    var hasWake: Bool { !wakes.isEmpty }

    func elapsedMilliseconds() -> Int64 { queue.nowMilliseconds }

    func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        guard !isDead else { return {} }
        let number = queue.schedule(after: milliseconds, for: owner) { self.run(body) }
        let queue = SingleThreaded(value: queue)
        return { queue.value.cancel(number) }
    }

    /// Does at once what is to be done soon, or not: as where a thread is ahead of the one that starts the app.
    func mayRunAhead() {
        guard draws.happens(perMille: 500, "ahead") else { return }
        for work in queue.takeAll(of: owner) { work() }
    }

    /// Does something of the app's own later.
    func later(_ milliseconds: Int64, _ body: @escaping () -> Void) {
        if !isDead { queue.schedule(after: milliseconds, for: owner, body) }
    }

    // MARK: The order of threads

    /// Does a piece of work on a thread of its own: between two of its steps anything else may happen.
    func run(_ work: @escaping () -> Void, whenDone: @escaping () -> Void = {}) {
        runsCount += 1
        guard !isDead, draws.happens(perMille: interruptionsPerMille, "interrupts \(runsCount)") else {
            work()
            return whenDone()
        }
        proceed(SimulatedThread(work), runsCount, whenDone)
    }

    private func proceed(_ thread: SimulatedThread, _ number: Int, _ whenDone: @escaping () -> Void) {
        standing[number] = nil
        let before = current
        current = thread
        thread.proceed()
        current = before
        guard !thread.isOver else { return whenDone() }
        standing[number] = thread
        waitingWorkCount += 1
        queue.schedule(after: pauseMilliseconds(), for: owner) {
            self.waitingWorkCount -= 1
            self.proceed(thread, number, whenDone)
        }
    }

    /// Mostly a moment; now and then long enough for a person, or for another device.
    private func pauseMilliseconds() -> Int64 {
        let most = draws.one(of: [2, 20, 200, 2_000], "pause \(yieldsCount)") ?? 2
        return Int64(draws.number(in: 0..<most, "milliseconds \(yieldsCount)"))
    }

    func yield() {
        guard let current, !isDead else { return }
        yieldsCount += 1
        if draws.happens(perMille: 500, "yield \(yieldsCount)") { current.standStill() }
    }

    /// Does work of the sync's own thread.
    private func runSerially(_ work: @escaping () -> Void) {
        guard !isSerialWorkUnderWay else { return serialWork.append(work) }
        isSerialWorkUnderWay = true
        run(work) { [self] in
            isSerialWorkUnderWay = false
            if !serialWork.isEmpty { runSerially(serialWork.removeFirst()) }
        }
    }

    /// Work of one kind that a dead process may still do until it must have let go of everything.
    private static let leftWorkMax = 2_000

    /// Ends it: nothing of it happens any more.
    func end() {
        isDead = true
        // Timers never run; but what would be done at once holds the file, and ends by finding it closed.
        leftWork += queue.takeAll(of: owner)
        for _ in 0..<Self.leftWorkMax where !leftWork.isEmpty { leftWork.removeFirst()() }
        leftWork = []
        // A thread that stood still may be beyond that bound: it ends all the same.
        for thread in standing.values { while !thread.isOver { thread.proceed() } }
        standing = [:]
    }
}

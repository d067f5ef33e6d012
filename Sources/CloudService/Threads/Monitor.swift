import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value behind a lock, on whose changes threads can wait. For threads of one's own only: a wait blocks.
final class Monitor<State>: @unchecked Sendable {
    // Sendable because `state` is read and written only between lock and unlock of `mutex`, and the conditions never
    // move.
    private let mutex = Mutex()
    private let conditions: UnsafeMutablePointer<pthread_cond_t>
    private let conditionCount: Int
    private var state: State

    /// Makes an unlocked monitor with conditions numbered from 0.
    init(_ state: State, conditionCount: Int) {
        self.state = state
        self.conditionCount = conditionCount
        conditions = .allocate(capacity: conditionCount)
        for index in 0..<conditionCount {
            let code = pthread_cond_init(conditions + index, nil)
            precondition(code == 0, "pthread_cond_init failed with \(code)")
        }
    }

    deinit {
        for index in 0..<conditionCount { pthread_cond_destroy(conditions + index) }
        conditions.deallocate()
    }

    /// Runs `body` with the state while no other thread holds it. Locked again inside `body`, it ends the process.
    @inline(never)  // Inlined, what a caller ignores of the result would be released before the lock is.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        mutex.lock(for: State.self)
        defer { mutex.unlock() }
        return body(&state)
    }

    /// Blocks until `body` returns something. It is tried at once, and again after each wake of `condition`.
    @inline(never)
    func wait<Result>(on condition: Int, until body: (inout State) -> Result?) -> Result {
        mutex.lock(for: State.self)
        defer { mutex.unlock() }
        while true {
            if let result = body(&state) { return result }
            mutex.wait(on: conditions + condition)
        }
    }

    /// The same, but while `pause` gives milliseconds, `body` is also tried after that time, and told so.
    @inline(never)
    func wait<Result>(
        on condition: Int, pause: (inout State) -> Int64?,
        until body: (inout State, _ timeIsUp: Bool) -> Result?
    ) -> Result {
        mutex.lock(for: State.self)
        defer { mutex.unlock() }
        var timeIsUp = false
        while true {
            if let result = body(&state, timeIsUp) { return result }
            timeIsUp = false
            if let milliseconds = pause(&state) {
                var end = timespec()
                clock_gettime(CLOCK_REALTIME, &end)
                let nanoseconds = end.tv_nsec + Int(milliseconds % 1_000) * 1_000_000
                end.tv_sec += Int(milliseconds / 1_000) + nanoseconds / 1_000_000_000
                end.tv_nsec = nanoseconds % 1_000_000_000
                timeIsUp = !mutex.wait(on: conditions + condition, until: end)
            } else {
                mutex.wait(on: conditions + condition)
            }
        }
    }

    /// Wakes one thread that waits on `condition`.
    func wakeOne(_ condition: Int) {
        pthread_cond_signal(conditions + condition)
    }

    /// Wakes every thread that waits on `condition`.
    func wakeAll(_ condition: Int) {
        pthread_cond_broadcast(conditions + condition)
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value behind a lock, on whose changes threads can wait. For threads of one's own only: a wait blocks.
final class Monitor<State>: @unchecked Sendable {
    // Sendable because `state` is read and written only between lock and unlock of `mutex`, which never moves,
    // as the conditions don't.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let conditions: UnsafeMutablePointer<pthread_cond_t>
    private let conditionCount: Int
    private var state: State

    /// Makes an unlocked monitor with conditions numbered from 0.
    init(_ state: State, conditionCount: Int) {
        self.state = state
        self.conditionCount = conditionCount
        mutex = .allocate(capacity: 1)
        conditions = .allocate(capacity: conditionCount)
        var code = pthread_mutex_init(mutex, nil)
        for index in 0..<conditionCount where code == 0 { code = pthread_cond_init(conditions + index, nil) }
        precondition(code == 0, "a lock could not be made: \(code)")
    }

    deinit {
        for index in 0..<conditionCount { pthread_cond_destroy(conditions + index) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the state while no other thread holds it. Not recursive.
    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Blocks until `body` returns something. It is tried at once, and again after each wake of `condition`.
    func wait<Result>(on condition: Int, until body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(conditions + condition, mutex)
        }
    }

    /// The same, but while `pause` gives milliseconds, `body` is also tried after that time, and told so.
    func wait<Result>(
        on condition: Int, pause: (inout State) -> Int64?,
        until body: (inout State, _ timeIsUp: Bool) -> Result?
    ) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
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
                timeIsUp = pthread_cond_timedwait(conditions + condition, mutex, &end) == ETIMEDOUT
            } else {
                pthread_cond_wait(conditions + condition, mutex)
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

/// A queue whose both ends cost the same however long it is.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var first: Element? { head < elements.count ? elements[head] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Puts elements before the first, in their order.
    mutating func putBack(_ returned: [Element]) {
        guard !returned.isEmpty else { return }
        elements.replaceSubrange(0..<head, with: returned.map { $0 })
        head = 0
    }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head >= 1024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

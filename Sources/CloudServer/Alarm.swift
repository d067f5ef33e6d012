import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a thread waits at until it is rung for, or until some time has passed.
final class Alarm: @unchecked Sendable {
    // Sendable because `isRung` is touched only between lock and unlock of `mutex`, and the condition never moves.
    private let mutex = Mutex()
    private let condition: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
    private var isRung = false

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if canImport(Glibc)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Ends the present wait, or the next.
    func ring() {
        mutex.lock(for: Alarm.self)
        isRung = true
        pthread_cond_signal(condition)
        mutex.unlock()
    }

    /// Waits until `ring`, at most so long; with nil, for ever. True when it was rung.
    @discardableResult
    func wait(milliseconds: Int64?) -> Bool {
        mutex.lock(for: Alarm.self)
        defer { mutex.unlock() }
        var end = timespec()
        if let milliseconds {
            #if canImport(Glibc)
                clock_gettime(CLOCK_MONOTONIC, &end)
            #else
                clock_gettime(CLOCK_REALTIME, &end)
            #endif
            let nanoseconds = Int64(end.tv_nsec) + max(0, milliseconds) % 1000 * 1_000_000
            end.tv_sec += Int(max(0, milliseconds) / 1000 + nanoseconds / 1_000_000_000)
            end.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        while !isRung {
            if milliseconds == nil {
                mutex.wait(on: condition)
            } else if !mutex.wait(on: condition, until: end) {
                break
            }
        }
        defer { isRung = false }
        return isRung
    }
}

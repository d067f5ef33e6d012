#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A condition variable for threads that hold a mutex. Durations are measured with a monotonic clock where
/// the system supports it.
package struct Condition: ~Copyable, @unchecked Sendable {
    // Sendable because the pointer never changes, and the system's functions may be called by any thread.
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    #if canImport(Glibc)
        private static let clock = CLOCK_MONOTONIC
    #else
        // Darwin's conditions support no other clock.
        private static let clock = CLOCK_REALTIME
    #endif

    /// A time on the condition's clock.
    package struct Deadline: Sendable {
        fileprivate var time = timespec()

        /// Makes the time a number of milliseconds from now. Negative numbers count as 0.
        package init(afterMilliseconds milliseconds: Int64) {
            clock_gettime(Condition.clock, &time)
            let milliseconds = max(0, milliseconds)
            let nanoseconds = Int64(time.tv_nsec) + milliseconds % 1_000 * 1_000_000
            time.tv_sec += Int(milliseconds / 1_000 + nanoseconds / 1_000_000_000)
            time.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
    }

    /// Makes a condition without waiting threads.
    package init() {
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        #if canImport(Glibc)
            pthread_condattr_setclock(&attributes, Self.clock)
        #endif
        let code = pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        precondition(code == 0, "pthread_cond_init failed with \(code)")
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Unlocks the mutex, waits until the condition is signalled, and locks the mutex again. It may also
    /// return without a signal, so check the state again after it.
    ///
    /// - Parameters:
    ///   - mutex: Held by this thread.
    ///   - end: End of the wait, or nil for no end.
    /// - Returns: False if `end` was reached first.
    @discardableResult
    package borrowing func wait(_ mutex: borrowing Mutex, until end: Deadline? = nil) -> Bool {
        guard var end else {
            pthread_cond_wait(condition, mutex.pointer)
            return true
        }
        return pthread_cond_timedwait(condition, mutex.pointer, &end.time) != ETIMEDOUT
    }

    /// Wakes one waiting thread.
    package borrowing func signal() { pthread_cond_signal(condition) }

    /// Wakes all waiting threads.
    package borrowing func broadcast() { pthread_cond_broadcast(condition) }
}

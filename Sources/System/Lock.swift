/// A value that only the holder of a lock can reach.
///
/// A `pthread_mutex_t` on the heap and not `Synchronization.Mutex`: on Linux the latter makes the thread sanitizer
/// report races that are none, and costs five times as much uncontended (measured: 33 ns against 6).
public final class Lock<Value>: @unchecked Sendable {
    // Sendable because `state` is read and written only between lock and unlock of `mutex`.
    private let mutex = Mutex()
    // An empty value has no address of its own: the thread sanitizer would take it for the object's header.
    private var state: (value: Value, filler: UInt8)

    /// Makes an unlocked lock around `value`.
    public init(_ value: Value) {
        state = (value, 0)
    }

    /// Runs `body` with the value while no other thread holds the lock, and returns what it returns.
    ///
    /// The lock is not recursive: taking it again inside `body` ends the process with a message. So `body` must not
    /// call foreign code, nor release the last reference to an object whose `deinit` may come back here: return the
    /// reference, and let it be released after the lock.
    ///
    /// - Parameter body: Reads and changes the value.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    @inline(never)  // Inlined, what a caller ignores of the result would be released before the lock is.
    public func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        mutex.lock(for: Value.self)
        defer { mutex.unlock() }
        return try body(&state.value)
    }
}

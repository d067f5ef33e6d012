/// A value behind a lock. Threads can wait for its changes. Use it only on threads that may block.
package final class Monitor<State>: @unchecked Sendable {
    // Sendable because `state` is read and written only between lock and unlock of `mutex`.
    private let mutex = Mutex()
    private var state: State

    /// Makes an unlocked monitor.
    package init(_ state: State) { self.state = state }

    /// Runs `body` with the state while no other thread holds the lock. Taking the lock again inside `body`
    /// ends the process.
    ///
    /// - Returns: The result of `body`.
    @inline(never)  // Inlined, what a caller ignores of the result would be released before the lock is.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        mutex.lock(for: State.self)
        defer { mutex.unlock() }
        return body(&state)
    }

    /// Blocks until `body` returns a value. `body` is called at once, and again after each wake of the
    /// condition.
    ///
    /// - Parameter condition: Must always be used with this monitor.
    /// - Returns: The result of `body`.
    package func wait<Result>(
        on condition: borrowing Condition, until body: (inout State) -> Result?
    ) -> Result {
        wait(on: condition, pause: { _ in nil }) { state, _ in body(&state) }
    }

    /// Blocks until `body` returns a value. `body` is called at once, again after each wake of the condition,
    /// and after the pause.
    ///
    /// - Parameters:
    ///   - condition: Must always be used with this monitor.
    ///   - pause: Returns the milliseconds after which `body` is called without a wake, or nil for never.
    ///   - body: `timeIsUp` is true if it is called because the pause has ended.
    /// - Returns: The result of `body`.
    @inline(never)  // As above.
    package func wait<Result>(
        on condition: borrowing Condition, pause: (inout State) -> Int64?,
        until body: (inout State, _ timeIsUp: Bool) -> Result?
    ) -> Result {
        mutex.lock(for: State.self)
        defer { mutex.unlock() }
        var timeIsUp = false
        while true {
            if let result = body(&state, timeIsUp) { return result }
            let end = pause(&state).map { Condition.Deadline(afterMilliseconds: $0) }
            timeIsUp = !condition.wait(mutex, until: end)
        }
    }
}

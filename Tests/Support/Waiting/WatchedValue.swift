import Dispatch
import System

/// A value that one thread changes and others wait for. A change wakes those that wait for it: nothing is polled.
package final class WatchedValue<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let isReached: @Sendable (Value) -> Bool
        let resume: @Sendable () -> Void
    }

    private let state: Lock<(value: Value, waiters: [Waiter])>

    /// Creates it with a first value.
    package init(_ value: Value) { state = Lock((value, [])) }

    /// The value now.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and resumes the waiters whose condition it meets, after the lock.
    ///
    /// - Returns: What `body` returns.
    @discardableResult
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, reached) = state.withLock { state in
            let result = body(&state.value)
            let reached = state.waiters.filter { $0.isReached(state.value) }
            state.waiters.removeAll { $0.isReached(state.value) }
            return (result, reached)
        }
        for waiter in reached { waiter.resume() }
        return result
    }

    /// Blocks the thread until the value meets a condition, for up to a minute.
    ///
    /// - Throws: `TimeoutError` with the value.
    package func wait(until isReached: @escaping @Sendable (Value) -> Bool) throws {
        let reached = DispatchSemaphore(value: 0)
        add(Waiter(isReached: isReached) { reached.signal() })
        guard reached.wait(timeout: .now() + .seconds(60)) == .success else {
            throw TimeoutError(description: "the value is still \(value)")
        }
    }

    /// Suspends the task until the value meets a condition. The test runner ends a test that waits in vain.
    package func becomes(_ isReached: @escaping @Sendable (Value) -> Bool) async {
        await withCheckedContinuation { continuation in
            add(Waiter(isReached: isReached) { continuation.resume() })
        }
    }

    private func add(_ waiter: Waiter) {
        let isReached = state.withLock { state in
            let isReached = waiter.isReached(state.value)
            if !isReached { state.waiters.append(waiter) }
            return isReached
        }
        if isReached { waiter.resume() }
    }
}

/// A test waited in vain.
package struct TimeoutError: Error, CustomStringConvertible {
    package let description: String
}

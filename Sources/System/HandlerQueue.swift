internal import Dispatch

/// Calls a handler of the app with values in order, one at a time, on its own queue. A handler that blocks
/// doesn't delay other handlers.
package final class HandlerQueue<Value: Sendable>: Sendable {
    private struct State {
        var values = FirstInFirstOut<Value>()
        var isRunning = false
        var isEnded = false
    }

    private let queue: DispatchQueue
    private let valuesMax: Int
    private let merge: @Sendable (_ dropped: Value, _ next: inout Value) -> Void
    private let handler: @Sendable (Value) -> Void
    private let state = Lock(State())

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - label: Name of the thread while the handler runs.
    ///   - valuesMax: Maximum number of pending values. If it is exceeded, the oldest value is dropped.
    ///   - merge: Adds a dropped value to the next one. Called inside a lock.
    ///   - handler: Called with each value.
    package init(
        label: String, valuesMax: Int,
        merge: @escaping @Sendable (_ dropped: Value, _ next: inout Value) -> Void = { _, _ in },
        handler: @escaping @Sendable (Value) -> Void
    ) {
        queue = DispatchQueue(label: label)
        self.valuesMax = valuesMax
        self.merge = merge
        self.handler = handler
    }

    /// Queues a value, and returns at once. Does nothing after `end()`.
    package func add(_ value: Value) {
        // A dropped value may own objects of the app, so it is released after the lock.
        let (mustRun, dropped) = state.withLock { state -> (Bool, Value?) in
            guard !state.isEnded else { return (false, value) }
            state.values.append(value)
            let dropped = state.values.count > valuesMax ? state.values.popFirst() : nil
            if let dropped, var next = state.values.first {
                merge(dropped, &next)
                state.values.first = next
            }
            defer { state.isRunning = true }
            return (!state.isRunning, dropped)
        }
        withExtendedLifetime(dropped) {}
        if mustRun { queue.async { self.run() } }
    }

    /// Drops the pending values. A running call of the handler on another thread may end after this returns.
    package func end() {
        let dropped = state.withLock { state in
            state.isEnded = true
            defer { state.values = FirstInFirstOut() }
            return state.values
        }
        withExtendedLifetime(dropped) {}
    }

    private func run() {
        while let value = next() { handler(value) }
    }

    private func next() -> Value? {
        state.withLock { state in
            let value = state.values.popFirst()
            state.isRunning = value != nil
            return value
        }
    }
}

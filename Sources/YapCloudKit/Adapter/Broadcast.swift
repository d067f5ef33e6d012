internal import System

/// Sends values to all its streams. A stream that isn't read fast enough loses the oldest values.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
        var nextNumber = 0
        /// Number of the newest start.
        var start = 0
    }

    private let valuesMax: Int
    private let state = Lock(State())

    /// - Parameter valuesMax: Maximum number of values kept for a stream that isn't read.
    init(valuesMax: Int) {
        self.valuesMax = valuesMax
    }

    deinit {
        finish(start: .max)
    }

    /// Keeps the streams beyond the end of earlier starts.
    func begin(_ start: Int) {
        state.withLock { $0.start = max($0.start, start) }
    }

    /// Returns a stream of the values from now on.
    /// - Parameter first: Returns a value that comes before them. Called while no other value can be sent.
    func stream(first: () -> Value? = { nil }) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(valuesMax))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = continuation
            // Under the lock, so that no other value comes before it. It resumes no task, because no caller has the
            // stream yet.
            if let first = first() { continuation.yield(first) }
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            // Removed under the lock, released after it.
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    func yield(_ value: Value) {
        let listeners = state.withLock { state in
            state.listeners.sorted { $0.key < $1.key }.map(\.value)
        }
        for listener in listeners { listener.yield(value) }
    }

    /// Ends the streams, unless a newer start has begun.
    func finish(start: Int) {
        // Finished after the lock is released, because a stream that ends comes back here at once.
        let listeners = state.withLock { state -> [Int: AsyncStream<Value>.Continuation] in
            guard start >= state.start else { return [:] }
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}

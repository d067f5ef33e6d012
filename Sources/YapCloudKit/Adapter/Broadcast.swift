internal import System

/// Values for everybody who listens. A listener who falls behind loses the oldest.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Value>.Continuation] = [:]
        var nextNumber = 0
    }

    private let valuesMax: Int
    private let state = Lock(State())

    /// - Parameter valuesMax: How many values are kept for a listener who hasn't asked for them yet.
    init(valuesMax: Int) {
        self.valuesMax = valuesMax
    }

    deinit {
        finish()
    }

    /// The values from now on.
    /// - Parameter first: What comes before them; asked while no other value can come in between.
    func stream(first: () -> Value? = { nil }) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Value.self, bufferingPolicy: .bufferingNewest(valuesMax))
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = continuation
            // Under the lock, so that no other value comes before it. It resumes nobody: nobody has the stream yet.
            if let first = first() { continuation.yield(first) }
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            // Taken out under the lock, dropped outside of it.
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

    /// Ends the streams.
    func finish() {
        // Finished outside of the lock: a stream that ends comes back here at once.
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }
}

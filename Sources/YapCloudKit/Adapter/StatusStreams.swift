internal import System

/// The streams of the sync's status. They last until the device's database ends.
///
/// Each stream gets each status once, and the newest one last, whichever threads report.
final class StatusStreams: Sendable {
    private typealias Continuation = AsyncStream<CloudSyncStatus>.Continuation

    private struct State {
        /// The streams, each with the last status that it has or will get.
        var listeners: [Int: (continuation: Continuation, last: CloudSyncStatus)] = [:]
        var nextNumber = 0
        /// Number of the newest start.
        var start = 0
        /// Statuses to send, in order; nil ends the stream.
        var pending: [(continuation: Continuation, status: CloudSyncStatus?)] = []
        /// Whether a thread is sending them.
        var isSending = false
    }

    private let valuesMax: Int
    private let state = Lock(State())

    /// - Parameter valuesMax: Maximum number of statuses kept for a stream that isn't read.
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

    /// Returns a stream of the status now, and of each later change.
    /// - Parameter current: Reads the status. Called while no other status can be reported.
    func stream(_ current: () -> CloudSyncStatus) -> AsyncStream<CloudSyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CloudSyncStatus.self, bufferingPolicy: .bufferingNewest(valuesMax))
        let number = state.withLock { state in
            let status = current()
            state.nextNumber += 1
            state.listeners[state.nextNumber] = (continuation, status)
            // Under the lock, so that no other status comes before it. It resumes no task, because no caller has the
            // stream yet.
            continuation.yield(status)
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            // Removed under the lock, released after it.
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Reports the status to the streams for which more than the date of the last response has changed.
    /// - Parameter current: Reads the status. Called while no other status can be reported.
    func report(_ current: () -> CloudSyncStatus) {
        state.withLock { state in
            let status = current()
            for (number, listener) in state.listeners.sorted(by: { $0.key < $1.key })
            where status.differs(from: listener.last) {
                state.listeners[number]?.last = status
                state.pending.append((listener.continuation, status))
            }
        }
        send()
    }

    /// Ends the streams, unless a newer start has begun.
    func finish(start: Int) {
        state.withLock { state in
            guard start >= state.start else { return }
            state.pending += state.listeners.values.map { ($0.continuation, nil) }
            state.listeners = [:]
        }
        send()
    }

    /// Sends what is pending, unless another thread does. Sent with no lock held, because that resumes tasks, and a
    /// stream that ends comes back here at once.
    private func send() {
        while let (continuation, status) = next() {
            if let status { continuation.yield(status) } else { continuation.finish() }
            state.withLock { $0.isSending = false }
        }
    }

    private func next() -> (continuation: Continuation, status: CloudSyncStatus?)? {
        state.withLock { state in
            guard !state.isSending, !state.pending.isEmpty else { return nil }
            state.isSending = true
            return state.pending.removeFirst()
        }
    }
}

internal import CloudKit
internal import System

/// Sends merge decisions and errors to their listeners.
final class MergeLogStreams: Sendable {
    /// Maximum number of entries and errors kept for a stream that isn't read. The oldest are dropped first.
    static let bufferedMax = 10_000

    private struct State {
        var entries: [Int: AsyncStream<CloudMergeLogEntry>.Continuation] = [:]
        var errors: [Int: AsyncStream<CKError>.Continuation] = [:]
        var observers: [@Sendable ([CloudMergeLogEntry]) -> Void] = []
        var next = 0
    }

    private let state = Lock(State())

    deinit {
        // No more values can come, so the listeners must not wait forever.
        let (entries, errors) = state.withLock { ($0.entries, $0.errors) }
        for listener in entries.values { listener.finish() }
        for listener in errors.values { listener.finish() }
    }

    func entries() -> AsyncStream<CloudMergeLogEntry> {
        listen(\.entries)
    }

    func errors() -> AsyncStream<CKError> {
        listen(\.errors)
    }

    private func listen<Element: Sendable>(
        _ path: any WritableKeyPath<State, [Int: AsyncStream<Element>.Continuation]> & Sendable
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(Self.bufferedMax))
        let number = state.withLock { state in
            state.next += 1
            state[keyPath: path][state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            // Removed under the lock, released after it.
            _ = self?.state.withLock { $0[keyPath: path].removeValue(forKey: number) }
        }
        return stream
    }

    func observe(_ observer: @escaping @Sendable ([CloudMergeLogEntry]) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    /// - Returns: Whether there was a listener.
    func yield(_ log: [CloudMergeLogEntry]) -> Bool {
        let (listeners, observers) = state.withLock { ($0.entries, $0.observers) }
        for observer in observers { observer(log) }
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) {
            for entry in log { listener.yield(entry) }
        }
        return !listeners.isEmpty || !observers.isEmpty
    }

    func yield(_ error: CKError) {
        let listeners = state.withLock { $0.errors }
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener.yield(error) }
    }
}

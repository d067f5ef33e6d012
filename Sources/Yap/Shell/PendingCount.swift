import System

/// Number of queued and running work items.
final class PendingCount: Sendable {
    private let state = Lock(0)

    var count: Int { state.withLock { $0 } }

    func begin() { state.withLock { $0 += 1 } }

    func end() { state.withLock { $0 -= 1 } }
}

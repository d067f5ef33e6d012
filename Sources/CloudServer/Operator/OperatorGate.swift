import System

/// Limits the operators' requests that run concurrently. Others are queued in order, and rejected if the
/// queue is full, so that operators use only a limited part of a server.
final class OperatorGate: Sendable {
    /// Maximum number of concurrent requests.
    static let runningMax = 4
    /// Maximum number of queued requests.
    static let waitingMax = 64

    private struct State {
        var runningCount = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// Runs `work` in its turn. It must call `leave` once. Returns false if the queue is full; then it never
    /// runs.
    func enter(_ work: @escaping @Sendable () -> Void) -> Bool {
        let found: (isTaken: Bool, runs: Bool) = state.withLock { state in
            if state.runningCount < Self.runningMax {
                state.runningCount += 1
                return (true, true)
            }
            guard state.waiting.count < Self.waitingMax else { return (false, false) }
            state.waiting.append(work)
            return (true, false)
        }
        if found.runs { work() }
        return found.isTaken
    }

    /// Ends a request, and runs the next queued one.
    func leave() {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.waiting.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?()
    }
}

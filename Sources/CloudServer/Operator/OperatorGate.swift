import System

/// Lets a few requests of operators be answered at a time. The others wait in order, and of too many the rest is
/// refused, so that operators never take more of a server than that.
final class OperatorGate: Sendable {
    /// Maximum number of requests that are answered at a time.
    static let runningMax = 4
    /// Maximum number of requests that wait.
    static let waitingMax = 64

    private struct State {
        var runningCount = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// Runs `work` when its turn comes; it has to call `leave` once. False when too many wait: then it never runs.
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

    /// Gives a turn back, and runs what waits next.
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

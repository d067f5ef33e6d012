internal import System

/// The turn of one request at the token gate.
final class TokenTurn: Sendable {
    private struct State {
        var isHeld = false
        var isWaiting = false
        /// Number of the last wait: a retried request waits again.
        var waitNumber = 0
        var isClosed = false
        var leaveQueue: (@Sendable () -> Void)?
        var cancelTimer: TimerCancel?
    }

    private let gate: TokenGate
    private let state = Lock(State())

    init(_ gate: TokenGate) {
        self.gate = gate
    }

    /// Waits for the turn, and calls `body` when it comes, possibly before this function returns. After `close()`, the
    /// turn is left at once and `body` isn't called.
    /// - Returns: true if the request is still waiting.
    func wait(_ body: @escaping @Sendable () -> Void) -> Bool {
        let number = state.withLock { state in
            state.waitNumber += 1
            state.isWaiting = true
            return state.waitNumber
        }
        let leaveQueue = gate.enter {
            let isClosed = self.state.withLock { state in
                state.isWaiting = false
                state.isHeld = !state.isClosed
                return state.isClosed
            }
            isClosed ? self.gate.leave() : body()
        }
        // The closure of an earlier wait is released after the lock.
        let (isWaiting, _) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard state.waitNumber == number, state.isWaiting, !state.isClosed else { return (false, nil) }
            defer { state.leaveQueue = leaveQueue }
            return (true, state.leaveQueue)
        }
        if !isWaiting { leaveQueue() }
        return isWaiting
    }

    /// Stores a timer until `close()`, or cancels it if `close()` was called.
    func keepTimer(_ cancel: @escaping TimerCancel) {
        // The timer of an earlier wait is released after the lock.
        let (isClosed, _) = state.withLock { state in
            defer { if !state.isClosed { state.cancelTimer = cancel } }
            return (state.isClosed, state.cancelTimer)
        }
        if isClosed { cancel() }
    }

    /// Leaves the gate, if the request has its turn.
    func leave() {
        let wasHeld = state.withLock { state in
            defer { state.isHeld = false }
            return state.isHeld
        }
        if wasHeld { gate.leave() }
    }

    /// Leaves the queue and cancels the timer.
    /// - Parameter keepsTurn: true if a turn that has come lasts until `leave()`.
    func close(keepsTurn: Bool) {
        let (leaveQueue, cancelTimer) = state.withLock { state in
            state.isClosed = true
            defer { (state.leaveQueue, state.cancelTimer) = (nil, nil) }
            return (state.leaveQueue, state.cancelTimer)
        }
        cancelTimer?()
        leaveQueue?()
        if !keepsTurn { leave() }
    }
}

internal import System

/// The attempts of one request: the one in flight, or the pause before the next.
final class RequestAttempts: Sendable {
    private struct State {
        /// Number of the last attempt, from 1.
        var lastNumber = 0
        /// Number of the attempt in flight. Results of other attempts are ignored.
        var inFlight: Int?
        var bringsToken = false
        var cancelTransfer: TransportCancel?
        var cancelTimer: TimerCancel?
        var isClosed = false

        /// Removes the closures that cancel the attempt. The caller releases them after the lock.
        mutating func take() -> (cancelTransfer: TransportCancel?, cancelTimer: TimerCancel?) {
            defer { (inFlight, cancelTransfer, cancelTimer) = (nil, nil, nil) }
            return (cancelTransfer, cancelTimer)
        }
    }

    private let state = Lock(State())
    /// Called after `close` has left an attempt in flight.
    private let didLeaveAttempt: @Sendable () -> Void

    /// - Parameter didLeaveAttempt: for a test of what happens before the request has ended.
    init(didLeaveAttempt: @escaping @Sendable () -> Void = {}) {
        self.didLeaveAttempt = didLeaveAttempt
    }

    /// Begins the next attempt.
    /// - Parameter bringsToken: true if the response must be awaited even after the request has completed.
    /// - Returns: its number; nil if the request has completed.
    func begin(bringsToken: Bool) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastNumber += 1
            state.inFlight = state.lastNumber
            state.bringsToken = bringsToken
            return state.lastNumber
        }
    }

    // A closure that is replaced below is released after the lock.

    /// Stores the timer of an attempt, or cancels it if the attempt isn't in flight any more.
    func keepTimer(_ cancel: @escaping TimerCancel, of number: Int) {
        let (isKept, _) = state.withLock { state -> (Bool, TimerCancel?) in
            guard state.inFlight == number else { return (false, nil) }
            defer { state.cancelTimer = cancel }
            return (true, state.cancelTimer)
        }
        if !isKept { cancel() }
    }

    /// Stores the closure that cancels the transfer of an attempt, or calls it if the attempt isn't in flight
    /// any more.
    func keepTransfer(_ cancel: @escaping TransportCancel, of number: Int) {
        let (isKept, _) = state.withLock { state -> (Bool, TransportCancel?) in
            guard state.inFlight == number else { return (false, nil) }
            defer { state.cancelTransfer = cancel }
            return (true, state.cancelTransfer)
        }
        if !isKept { cancel() }
    }

    /// Stores the timer of the pause before the next attempt, or cancels it if the request has completed.
    func keepPause(_ cancel: @escaping TimerCancel) {
        let (isKept, _) = state.withLock { state -> (Bool, TimerCancel?) in
            guard !state.isClosed, state.inFlight == nil else { return (false, nil) }
            defer { state.cancelTimer = cancel }
            return (true, state.cancelTimer)
        }
        if !isKept { cancel() }
    }

    /// Ends an attempt, and cancels its timer.
    /// - Returns: a closure that cancels the transfer; nil if the attempt isn't in flight any more.
    func finish(_ number: Int) -> TransportCancel? {
        let taken = state.withLock { $0.inFlight == number ? $0.take() : nil }
        guard let taken else { return nil }
        taken.cancelTimer?()
        return taken.cancelTransfer ?? {}
    }

    /// Begins no more attempts, and cancels the one in flight unless its response has the user's next token.
    /// - Returns: true if an attempt continues.
    func close() -> Bool {
        let taken = state.withLock {
            state -> (cancelTransfer: TransportCancel?, cancelTimer: TimerCancel?)? in
            state.isClosed = true
            return state.inFlight != nil && state.bringsToken ? nil : state.take()
        }
        guard let taken else {
            didLeaveAttempt()
            return true
        }
        taken.cancelTransfer?()
        taken.cancelTimer?()
        return false
    }
}

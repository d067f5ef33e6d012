import System

/// Cancels a request whose work has not begun, and reports whether that was possible.
///
/// Cancelled work is never executed. Work that has begun can't be cancelled.
public final class ServiceCancellation: Sendable {
    private enum State {
        case waiting
        case begun
        case cancelled
    }

    private let state = Lock(State.waiting)

    /// Makes a cancellation for a pending request.
    public init() {}

    /// Cancels the request. Returns false if its work has begun.
    @discardableResult
    public func cancel() -> Bool {
        state.withLock { state in
            guard state != .begun else { return false }
            state = .cancelled
            return true
        }
    }

    /// Begins the work. Returns false if the request was cancelled. Then the work must not be done.
    package func begin() -> Bool {
        state.withLock { state in
            guard state != .cancelled else { return false }
            state = .begun
            return true
        }
    }

    /// Notes that the work was postponed and none of it was done.
    func postpone() {
        state.withLock { $0 = .waiting }
    }
}

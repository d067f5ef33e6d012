import System

/// Says whether the work of a request has begun, so that its caller knows what giving up means.
///
/// Work that was given up before it began is never done. Work that has begun can't be given up.
public final class ServiceCancellation: Sendable {
    private enum State {
        case waiting
        case begun
        case cancelled
    }

    private let state = Lock(State.waiting)

    /// For a request that waits.
    public init() {}

    /// Gives the request up; false when its work has begun.
    @discardableResult
    public func cancel() -> Bool {
        state.withLock { state in
            guard state != .begun else { return false }
            state = .cancelled
            return true
        }
    }

    /// The work begins; false when it was given up, and then it must not.
    package func begin() -> Bool {
        state.withLock { state in
            guard state != .cancelled else { return false }
            state = .begun
            return true
        }
    }

    /// The work was put back, and nothing of it is done.
    func postpone() {
        state.withLock { $0 = .waiting }
    }
}

internal import System

/// Serializes the requests of one user, in their order.
///
/// Apple's servers accept a user's token once, and the response has the next one. Two requests with the same
/// token would end the sign-in.
package final class TokenGate: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber = 0
        var queue: [(number: Int, body: @Sendable () -> Void)] = []
    }

    private let state = Lock(State())

    private static let shared = WeakTable<String, TokenGate>()
    /// The key in `shared`; nil for a gate that isn't shared.
    private let name: String?

    init(name: String? = nil) {
        self.name = name
    }

    deinit {
        if let name { Self.shared.forget(name, self) }
    }

    /// Returns the gate of this process for one sign-in. A request in flight keeps the gate alive, so a container
    /// that is made later shares it even if no other container exists.
    /// - Parameter name: identifies the sign-in.
    static func ofAll(_ name: String) -> TokenGate {
        shared.value(name) { TokenGate(name: name) }
    }

    /// Calls `body` when the gate is free, possibly before this function returns. The caller then calls `leave()` once.
    /// - Returns: a closure that leaves the queue. It does nothing once `body` has been called.
    func enter(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let number: Int? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            state.queue.append((state.lastNumber, body))
            return state.lastNumber
        }
        guard let number else {
            body()
            return {}
        }
        return {
            // The body is released after the lock.
            _ = self.state.withLock { state -> (@Sendable () -> Void)? in
                state.queue.firstIndex { $0.number == number }.map { state.queue.remove(at: $0).body }
            }
        }
    }

    /// Leaves the gate. The next request in the queue begins on this thread.
    func leave() {
        let next: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.queue.removeFirst().body
        }
        next?()
    }
}

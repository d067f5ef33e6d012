internal import System

/// Lets requests of one user go one after the other.
///
/// Apple's servers take a user's token once: the answer brings the next one. Two requests with one token at a time
/// would end the sign-in.
package final class TokenGate: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber = 0
        var waiting: [(number: Int, body: @Sendable () -> Void)] = []
    }

    private let state = Lock(State())

    private static let shared = WeakTable<String, TokenGate>()
    /// By which others find it; nil: nobody does.
    private let name: String?

    init(name: String? = nil) {
        self.name = name
    }

    deinit {
        if let name { Self.shared.forget(name, self) }
    }

    /// The turns of everybody in this process who asks as one user. A request that is under way keeps them: so they are
    /// also the next container's when all others are gone.
    /// - Parameter name: what names the user's sign-in.
    static func ofAll(_ name: String) -> TokenGate {
        shared.value(name) { TokenGate(name: name) }
    }

    /// Calls `body` when it is its turn, perhaps at once. The caller then calls `leave()` once.
    /// - Returns: what takes it back; false when its turn had come already.
    func enter(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Bool {
        let number: Int? = state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            state.waiting.append((state.lastNumber, body))
            return state.lastNumber
        }
        guard let number else {
            body()
            return { false }
        }
        return {
            // The body is released after the lock.
            let left = self.state.withLock { state -> (@Sendable () -> Void)? in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                    return nil
                }
                return state.waiting.remove(at: index).body
            }
            return left != nil
        }
    }

    /// Ends a turn: the next begins, on this thread.
    func leave() {
        let next: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().body
        }
        next?()
    }
}

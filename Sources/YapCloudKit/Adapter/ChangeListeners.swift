internal import System

/// Closures that end the listening to other devices' changes. They are kept from the start of the sync to the end of
/// the device's database.
final class ChangeListeners: Sendable {
    private struct State {
        var ends: [@Sendable () -> Void] = []
        /// True after the database has ended.
        var isEnded = false
    }

    private let state = Lock(State())

    deinit { endAll() }

    /// Allows listening, after a start.
    func begin() {
        state.withLock { $0.isEnded = false }
    }

    /// Keeps a closure that ends listening. Calls it at once if the database has ended already.
    func add(_ end: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.ends.append(end) }
            return state.isEnded
        }
        if isEnded { end() }
    }

    /// Ends all listening, and any that begins later.
    func endAll() {
        let ends = state.withLock { state in
            state.isEnded = true
            defer { state.ends = [] }
            return state.ends
        }
        for end in ends { end() }
    }
}

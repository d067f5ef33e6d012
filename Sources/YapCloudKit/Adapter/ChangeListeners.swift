internal import System

/// Closures that end the listening to other devices' changes. They are kept from the start of the sync to the end of
/// the device's database, or to the next start.
final class ChangeListeners: Sendable {
    private struct State {
        /// Number of the start that listens.
        var start = 0
        var ends: [@Sendable () -> Void] = []
        /// True after the start's database has ended.
        var isEnded = false
    }

    private let state = Lock(State())

    deinit { endAll(start: .max) }

    /// Allows listening for a start, and ends the listening for the start before.
    func begin(_ start: Int) {
        let ends = state.withLock { state -> [@Sendable () -> Void] in
            guard start > state.start else { return [] }
            defer { state = State(start: start) }
            return state.ends
        }
        for end in ends { end() }
    }

    /// Keeps a closure that ends the listening for a start. Calls it at once if the start's database has ended already,
    /// or after another start.
    func add(start: Int, _ end: @escaping @Sendable () -> Void) {
        let isKept = state.withLock { state in
            guard state.start == start, !state.isEnded else { return false }
            state.ends.append(end)
            return true
        }
        if !isKept { end() }
    }

    /// Ends all listening for a start, and any that begins later. After another start it does nothing.
    func endAll(start: Int) {
        let ends = state.withLock { state -> [@Sendable () -> Void] in
            guard start >= state.start else { return [] }
            state.start = start
            state.isEnded = true
            defer { state.ends = [] }
            return state.ends
        }
        for end in ends { end() }
    }
}

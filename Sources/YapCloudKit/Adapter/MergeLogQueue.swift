internal import System

/// Hands the decisions of merges to the app, each once, after their commit.
///
/// The commit also stores them, and a later one removes those that were handed out. So decisions of an earlier run are
/// handed out too.
final class MergeLogQueue: Sendable {
    private struct State {
        /// Number of the start whose database has the entries. Each database numbers its entries separately.
        var start = 0
        /// Committed entries that weren't handed out yet.
        var entries: [CloudMergeLogEntry] = []
        /// True if stored entries have to be read.
        var mustReadStored = false
        /// Number of the last entry that was handed out.
        var handedOutID: Int64 = 0
    }

    private let state = Lock(State())
    private let handler: @Sendable ([CloudMergeLogEntry]) -> Bool

    /// - Parameter handler: Receives entries. Returns false if no listener exists; then they stay stored.
    init(handler: @escaping @Sendable ([CloudMergeLogEntry]) -> Bool) {
        self.handler = handler
    }

    /// Begins to hand out the entries of a start's database. The entries of the database before that weren't handed out
    /// stay stored there.
    func begin(_ start: Int) {
        // The entries before are released after the lock.
        _ = state.withLock { state -> State? in
            guard start > state.start else { return nil }
            defer { state = State(start: start, mustReadStored: true) }
            return state
        }
    }

    /// Returns the number of the last entry of a start's database that was handed out, or 0. Entries up to it
    /// needn't be stored any longer.
    func handedOutID(start: Int) -> Int64 {
        state.withLock { $0.start == start ? $0.handedOutID : 0 }
    }

    /// Adds entries that a transaction committed. Those of another start's database stay stored there.
    ///
    /// - Parameter start: Number of the start that was in effect when the transaction began.
    /// - Returns: Whether entries have to be handed out.
    func add(_ entries: [CloudMergeLogEntry], start: Int) -> Bool {
        state.withLock { state in
            if state.start == start {
                state.entries += entries
            } else if !entries.isEmpty {
                // The transaction may have begun in this start's database, shortly before the start.
                state.mustReadStored = true
            }
            return state.mustReadStored || !state.entries.isEmpty
        }
    }

    /// Makes the next `take` request the stored entries.
    func needStored() {
        state.withLock { $0.mustReadStored = true }
    }

    /// Removes the entries to hand out, and returns them with the number of their start, and whether the stored entries
    /// come before them.
    func take() -> (entries: [CloudMergeLogEntry], start: Int, mustReadStored: Bool) {
        state.withLock { state in
            defer { (state.entries, state.mustReadStored) = ([], false) }
            return (state.entries, state.start, state.mustReadStored)
        }
    }

    /// Calls the handler with the entries that weren't handed out before. Entries of an earlier start's database stay
    /// stored there.
    func handOut(_ entries: [CloudMergeLogEntry], start: Int) {
        // Entries that were read from the table may also have come with their commit.
        let new = state.withLock { state in
            state.start == start ? entries.filter { $0.id > state.handedOutID } : []
        }
        guard let last = new.last, handler(new) else { return }
        state.withLock { if $0.start == start { $0.handedOutID = max($0.handedOutID, last.id) } }
    }
}

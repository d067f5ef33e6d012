internal import System

/// Hands the decisions of merges to the app, each once, after their commit.
///
/// They are also stored by their commit, and removed by a later one once they were handed out, so those of an earlier
/// run are handed out too.
final class MergeLogQueue: Sendable {
    private struct State {
        /// Committed entries that weren't handed out yet.
        var entries: [CloudMergeLogEntry] = []
        /// True if stored entries have to be read.
        var mustReadStored = false
        /// Number of the last entry that was handed out.
        var handedOutID: Int64 = 0
    }

    private let state = Lock(State())
    private let handler: @Sendable ([CloudMergeLogEntry]) -> Bool

    /// - Parameter handler: Takes entries. False if nobody listens; then they stay stored.
    init(handler: @escaping @Sendable ([CloudMergeLogEntry]) -> Bool) {
        self.handler = handler
    }

    /// Number of the last entry that was handed out. Entries up to it needn't be stored any longer.
    var handedOutID: Int64 { state.withLock { $0.handedOutID } }

    func add(_ entries: [CloudMergeLogEntry]) {
        state.withLock { $0.entries += entries }
    }

    /// Lets the next `take` ask for the stored entries.
    func needStored() {
        state.withLock { $0.mustReadStored = true }
    }

    /// Removes the entries to hand out, and returns whether the stored ones come before them.
    func take() -> (entries: [CloudMergeLogEntry], mustReadStored: Bool) {
        state.withLock { state in
            defer { (state.entries, state.mustReadStored) = ([], false) }
            return (state.entries, state.mustReadStored)
        }
    }

    /// Calls the handler with those of the entries that weren't handed out before.
    func handOut(_ entries: [CloudMergeLogEntry]) {
        // Entries that were read from the table may also have come with their commit.
        let handedOutID = handedOutID
        let new = entries.filter { $0.id > handedOutID }
        guard let last = new.last, handler(new) else { return }
        state.withLock { $0.handedOutID = max($0.handedOutID, last.id) }
    }
}

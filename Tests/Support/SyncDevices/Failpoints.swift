import Glibc
import System

/// Kills this process, as the system does with one that takes too much memory, at a chosen point of its life.
///
/// A point is what is going on, what happens in it, and how often that has happened: `applying/write` is a write to the
/// file while a fetched page is put into it. A process without a point to be killed at counts what it passes.
package final class Failpoints: Sendable {
    /// What is going on.
    package enum Activity: String, CaseIterable, Sendable {
        /// The file is opened and the extension registered: all rows are walked, or what waits is looked at.
        case registering
        /// The person's transaction.
        case committing
        /// The log is written back to the file, and cut.
        case maintaining
        /// The sync, before anything was answered.
        case preparing
        /// The sync, after the answer to a batch of changes.
        case completing
        /// The sync, after the answer to a fetch.
        case applying
    }

    /// What happens in it.
    package enum Action: String, CaseIterable, Sendable {
        /// A piece of the sync's work begins.
        case work
        /// A write to the file; half of it is done.
        case write
        case sync
        case truncate
        /// A row was changed.
        case row
        /// The record handler or the merge block is asked.
        case asked
        /// The record handler is asked for what the queue holds the names of.
        case restored
        /// A transaction has written all it wants to, and COMMIT has not been asked for.
        case beforeCommit
        /// A transaction is committed, and nobody has heard of it.
        case afterCommit
        /// A request is about to be sent.
        case request
        /// An answer has come, and nobody has seen it.
        case reply
    }

    private struct State {
        var activity = Activity.registering
        var counts: [String: Int] = [:]
    }

    private let point: (label: String, number: Int)?
    private let state = Lock(State())

    /// - Parameter point: A point as `applying/write:3`; nil only counts.
    package init(_ point: String? = nil) {
        let parts = (point ?? "").split(separator: ":")
        if parts.count == 2, let number = Int(parts[1]) {
            self.point = (String(parts[0]), number)
        } else {
            self.point = nil
        }
    }

    /// How often each thing has happened.
    package var counts: [String: Int] { state.withLock { $0.counts } }

    /// Says what is going on from now on.
    /// - Returns: What went on before.
    @discardableResult
    package func begin(_ activity: Activity) -> Activity {
        state.withLock { state in
            defer { state.activity = activity }
            return state.activity
        }
    }

    /// Something happens: the process may end here.
    package func reached(_ action: Action) {
        if strikes(action) { kill(getpid(), SIGKILL) }
    }

    /// Counts, and says whether the process is to end here.
    package func strikes(_ action: Action) -> Bool {
        state.withLock { state in
            let label = "\(state.activity.rawValue)/\(action.rawValue)"
            state.counts[label, default: 0] += 1
            return point.map { $0.label == label && $0.number == state.counts[label] } ?? false
        }
    }
}

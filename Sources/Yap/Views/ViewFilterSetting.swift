import Seams

/// The filter of a filtered view in this process, and those that transactions set which aren't committed yet.
///
/// Only the writer runs filters: the newest one counts for it.
final class ViewFilterSetting<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    struct Filter: Sendable {
        let versionTag: String
        let isIncluded: @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    }

    private struct State {
        var current: Filter
        /// In the order of the transactions that share a commit.
        var pending: [(owner: ObjectIdentifier, filter: Filter)] = []
    }

    private let state: Lock<State>

    init(_ filter: Filter) {
        state = Lock(State(current: filter))
    }

    /// The filter that is committed.
    var current: Filter { state.withLock { $0.current } }

    /// The filter in the transaction that writes.
    var newest: Filter { state.withLock { $0.pending.last?.filter ?? $0.current } }

    func isPending(_ versionTag: String) -> Bool {
        state.withLock { $0.pending.contains { $0.filter.versionTag == versionTag } }
    }

    /// The filter that a transaction has set; nil if it has set none.
    func filter(of owner: ObjectIdentifier) -> Filter? {
        state.withLock { state in state.pending.first { $0.owner == owner }?.filter }
    }

    /// Sets the filter of a transaction; nil to take it back.
    func set(_ filter: Filter?, by owner: ObjectIdentifier) {
        state.withLock { state in
            state.pending.removeAll { $0.owner == owner }
            if let filter { state.pending.append((owner, filter)) }
        }
    }

    /// Makes the filter of a transaction the current one.
    func commit(_ owner: ObjectIdentifier) {
        state.withLock { state in
            guard let index = state.pending.firstIndex(where: { $0.owner == owner }) else { return }
            state.current = state.pending.remove(at: index).filter
        }
    }
}

import Seams

/// The filter of a filtered view in this process, and those that transactions set which aren't committed yet.
///
/// Only the writer runs filters: the newest one counts for it. The filter is part of the view's description: of several
/// open databases that share it none may set another filter, which would count in all of them.
final class ViewFilterSetting<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    struct Filter: Sendable {
        let versionTag: String
        let isIncluded: @Sendable (_ group: Group, _ key: String, _ object: Object) -> Bool
    }

    private struct State {
        var current: Filter
        /// In the order of the transactions that share a commit.
        var pending: [(owner: ObjectIdentifier, filter: Filter)] = []
        /// The databases in which the view is registered, by their logs.
        var databases: [Database] = []
        /// Whether one of them has set the filter.
        var isSet = false

        mutating func restore(_ filter: Filter?, by owner: ObjectIdentifier) {
            pending.removeAll { $0.owner == owner }
            if let filter { pending.append((owner, filter)) }
        }

        func others(than log: CommitLog) -> [Database] {
            databases.filter { $0.isOpen && $0.log !== log }
        }
    }

    private struct Database {
        weak var log: CommitLog?
        var isOpen: Bool { log?.isClosed == false }
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

    /// Sets the filter of a transaction.
    ///
    /// - Returns: False if the view is registered in several open databases. Then nothing is set.
    func set(_ filter: Filter, by owner: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard state.databases.filter(\.isOpen).count <= 1 else { return false }
            state.isSet = true
            state.restore(filter, by: owner)
            return true
        }
    }

    /// Brings back the filter that a transaction had set before; nil if it had set none.
    func restore(_ filter: Filter?, by owner: ObjectIdentifier) {
        state.withLock { $0.restore(filter, by: owner) }
    }

    /// Makes the filter of a transaction the current one.
    func commit(_ owner: ObjectIdentifier) {
        state.withLock { state in
            guard let index = state.pending.firstIndex(where: { $0.owner == owner }) else { return }
            state.current = state.pending.remove(at: index).filter
        }
    }

    // MARK: Databases

    /// Notes that the view is about to be registered in a database.
    ///
    /// - Returns: False if another open database has set the filter.
    func join(_ log: CommitLog) -> Bool {
        state.withLock { state in
            let others = state.others(than: log)
            if others.isEmpty {
                state.isSet = state.isSet && state.databases.contains { $0.log === log }
            } else if state.isSet {
                return false
            }
            state.databases = others + [Database(log: log)]
            return true
        }
    }

    /// Notes that the view is no longer registered in a database.
    func leave(_ log: CommitLog) {
        state.withLock { state in state.databases = state.others(than: log) }
    }

    static func mistake(ofSharing view: YapDatabaseView<Object, Group>) -> YapDatabaseError {
        YapDatabaseError(
            .invalidExtension,
            "several open databases share the view \"\(view.name)\", and one sets its filter: describe one for each",
            collection: view.collection)
    }
}

import System

/// Closures of a view, with the version that the file stores.
protocol VersionedRule: Sendable {
    var versionTag: String { get }
    /// The types of the metadata that the closures get.
    var metadataTypes: [any Sendable.Type] { get }
}

/// A `ViewSetting` with any type of closures.
protocol ViewSettings: Sendable {
    var currentVersionTag: String { get }
    var newestVersionTag: String { get }
    func isVersion(_ versionTag: String, at snapshot: UInt64) -> Bool
    func makeRestorePoint(of owner: ObjectIdentifier) -> @Sendable () -> Void
    func commit(_ owner: ObjectIdentifier, snapshot: UInt64)
    func forget(_ owner: ObjectIdentifier)
    func join(_ log: CommitLog) -> Bool
    func leave(_ log: CommitLog)
}

/// The closures of a view in this process, and those that transactions set which aren't committed yet.
///
/// Only the writer runs them: the newest ones count for it. They are part of the view's description. If several open
/// databases share it, none may set others, because they would count in all of them.
final class ViewSetting<Rule: VersionedRule>: ViewSettings {
    private struct State {
        var current: Rule
        /// In the order of the transactions that share a commit.
        var pending: [(owner: ObjectIdentifier, rule: Rule)] = []
        /// The last versions that were replaced, each with the snapshot from which on it doesn't count.
        var former: [(versionTag: String, end: UInt64)] = []
        /// The databases in which the view is registered, by their logs.
        var databases: [Database] = []
        /// Whether one of them has set a rule, and has committed it.
        var isSet = false

        /// Returns the former rules, to be released after the lock: they hold objects of the app.
        mutating func restore(_ rule: Rule?, by owner: ObjectIdentifier) -> [Rule] {
            let before = pending.map(\.rule)
            pending.removeAll { $0.owner == owner }
            if let rule { pending.append((owner, rule)) }
            return before
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
    /// Maximum former versions that are kept.
    private static var formerMax: Int { 16 }

    init(_ rule: Rule) {
        state = Lock(State(current: rule))
    }

    /// The version of the rule that is committed.
    var currentVersionTag: String { state.withLock { $0.current.versionTag } }

    /// The version in the transaction that writes.
    var newestVersionTag: String { newest.versionTag }

    /// The rule in the transaction that writes.
    var newest: Rule { state.withLock { $0.pending.last?.rule ?? $0.current } }

    /// Whether the file may have this version at a snapshot: a reader can be before or after the transaction that sets
    /// another one.
    func isVersion(_ versionTag: String, at snapshot: UInt64) -> Bool {
        state.withLock { state in
            versionTag == state.current.versionTag
                || state.pending.contains { $0.rule.versionTag == versionTag }
                || state.former.contains { $0.versionTag == versionTag && snapshot < $0.end }
        }
    }

    /// Sets the rule of a transaction.
    ///
    /// - Returns: False if the view is registered in several open databases. Then nothing is set.
    func set(_ rule: Rule, by owner: ObjectIdentifier) -> Bool {
        let before = state.withLock { state -> [Rule]? in
            guard state.databases.filter(\.isOpen).count <= 1 else { return nil }
            return state.restore(rule, by: owner)
        }
        return before != nil
    }

    /// Returns a closure that restores the rule that a transaction has set by now.
    func makeRestorePoint(of owner: ObjectIdentifier) -> @Sendable () -> Void {
        let rule = state.withLock { state in state.pending.first { $0.owner == owner }?.rule }
        return { _ = self.state.withLock { $0.restore(rule, by: owner) } }
    }

    /// Discards the rule that a transaction has set.
    func forget(_ owner: ObjectIdentifier) {
        _ = state.withLock { $0.restore(nil, by: owner) }
    }

    /// Makes the rule of a transaction the current one, from its snapshot on.
    func commit(_ owner: ObjectIdentifier, snapshot: UInt64) {
        // Released after the lock: it holds objects of the app.
        _ = state.withLock { state -> Rule? in
            guard let index = state.pending.firstIndex(where: { $0.owner == owner }) else { return nil }
            state.former.append((state.current.versionTag, snapshot))
            if state.former.count > Self.formerMax { state.former.removeFirst() }
            state.isSet = true
            defer { state.current = state.pending.remove(at: index).rule }
            return state.current
        }
    }

    // MARK: Databases

    /// Notes that the view is about to be registered in a database.
    ///
    /// - Returns: False if another open database has set a rule, or is about to.
    func join(_ log: CommitLog) -> Bool {
        state.withLock { state in
            let others = state.others(than: log)
            if others.isEmpty {
                let isKnown = state.databases.contains { $0.log === log }
                state.isSet = state.isSet && isKnown
                // Another database counts its snapshots from another one.
                if !isKnown { state.former = [] }
            } else if state.isSet || !state.pending.isEmpty {
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
}

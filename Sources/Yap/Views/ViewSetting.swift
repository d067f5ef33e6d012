import System

/// Closures of a view, and the version that the file stores for them.
protocol VersionedRule: Sendable {
    var versionTag: String { get }
    /// Types of the metadata that the closures receive.
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

/// The closures of a view in this process, and uncommitted ones that transactions have set.
///
/// Only the writer runs them, so it uses the newest ones. They are part of the view's description. If several open
/// databases share it, none may set others, because they would apply to all of them.
final class ViewSetting<Rule: VersionedRule>: ViewSettings {
    private struct State {
        var current: Rule
        /// In the order of the transactions that share a commit.
        var pending: [(owner: ObjectIdentifier, rule: Rule)] = []
        /// The last replaced versions, each with the snapshot from which it is no longer valid.
        var former: [(versionTag: String, end: UInt64)] = []
        /// Databases in which the view is registered, by their logs.
        var databases: [Database] = []
        /// True if one of them has set a rule and committed it.
        var isSet = false

        /// Returns the former rules, to be released after the lock, because they own objects of the app.
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
    /// Maximum former versions kept.
    private static var formerMax: Int { 16 }

    init(_ rule: Rule) {
        state = Lock(State(current: rule))
    }

    /// Version of the committed rule.
    var currentVersionTag: String { state.withLock { $0.current.versionTag } }

    /// Version of the rule in the current write transaction.
    var newestVersionTag: String { newest.versionTag }

    /// Rule of the current write transaction.
    var newest: Rule { state.withLock { $0.pending.last?.rule ?? $0.current } }

    /// Returns true if the file may have this version at a snapshot. A reader can be before or after the transaction
    /// that sets another version.
    func isVersion(_ versionTag: String, at snapshot: UInt64) -> Bool {
        state.withLock { state in
            versionTag == state.current.versionTag
                || state.pending.contains { $0.rule.versionTag == versionTag }
                || state.former.contains { $0.versionTag == versionTag && snapshot < $0.end }
        }
    }

    /// Sets the rule of a transaction.
    ///
    /// - Returns: False if the view is registered in several open databases. Nothing is set then.
    func set(_ rule: Rule, by owner: ObjectIdentifier) -> Bool {
        let before = state.withLock { state -> [Rule]? in
            guard state.databases.filter(\.isOpen).count <= 1 else { return nil }
            return state.restore(rule, by: owner)
        }
        return before != nil
    }

    /// Returns a closure that restores the rule that a transaction has set so far.
    func makeRestorePoint(of owner: ObjectIdentifier) -> @Sendable () -> Void {
        let rule = state.withLock { state in state.pending.first { $0.owner == owner }?.rule }
        return { _ = self.state.withLock { $0.restore(rule, by: owner) } }
    }

    /// Discards the rule that a transaction has set.
    func forget(_ owner: ObjectIdentifier) {
        _ = state.withLock { $0.restore(nil, by: owner) }
    }

    /// Makes the rule of a transaction the current one from its snapshot on.
    func commit(_ owner: ObjectIdentifier, snapshot: UInt64) {
        // Released after the lock, because it owns objects of the app.
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

    /// Records that the view is about to be registered in a database.
    ///
    /// - Returns: False if another open database has set a rule, or is about to.
    func join(_ log: CommitLog) -> Bool {
        state.withLock { state in
            let others = state.others(than: log)
            if others.isEmpty {
                let isKnown = state.databases.contains { $0.log === log }
                state.isSet = state.isSet && isKnown
                // Another database has its own numbering of snapshots.
                if !isKnown { state.former = [] }
            } else if state.isSet || !state.pending.isEmpty {
                return false
            }
            state.databases = others + [Database(log: log)]
            return true
        }
    }

    /// Records that the view is no longer registered in a database.
    func leave(_ log: CommitLog) {
        state.withLock { state in state.databases = state.others(than: log) }
    }
}

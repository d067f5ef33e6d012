import System

/// The last commits of this process, from which connections update their caches, and the registered extensions.
final class CommitLog: Sendable {
    /// Maximum commits kept. A connection that is further behind drops its caches.
    static let recordsMax = 256
    /// Maximum changes in the kept commits: keys of rows, and changes of extensions.
    static let changesMax = 50_000

    private struct State {
        var records: [CommitRecord] = []
        /// Commits of the running COMMIT until it is confirmed. They are in `records` too.
        var pending: [CommitRecord] = []
        var changeCount = 0
        var newest: SnapshotMark
        var registry: [RegisteredExtension] = []
        var isClosed = false
    }

    private let state: Lock<State>
    private let publisher: CommitPublisher

    init(newest: SnapshotMark, publisher: CommitPublisher) {
        state = Lock(State(newest: newest))
        self.publisher = publisher
        publisher.start(at: newest.number)
    }

    /// The registered extensions.
    var registry: [RegisteredExtension] { state.withLock { $0.registry } }

    /// Returns the extensions that are registered in a snapshot. A reader may see a commit before it is confirmed.
    func registry(at mark: SnapshotMark) -> [RegisteredExtension] {
        state.withLock { state in
            // A reader sees all commits of one COMMIT, or none of them.
            guard state.pending.last?.mark == mark else { return state.registry }
            return state.pending.last { $0.registry != nil }?.registry ?? state.registry
        }
    }

    /// True if the database was closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func close() { state.withLock { $0.isClosed = true } }

    /// The newest known commit.
    var newest: SnapshotMark { state.withLock { $0.newest } }

    /// Returns the commits from one mark to another, or nil if some aren't known.
    func records(from: SnapshotMark, to: SnapshotMark) -> [CommitRecord]? {
        let known = lastRecords(from: from, to: to)
        return known.first?.previous == from ? known : nil
    }

    /// Returns the commits from one mark to another, for an observer. If some aren't known, the first one counts them
    /// as missed.
    func commits(from: SnapshotMark, to: SnapshotMark) -> [YapDatabaseCommit] {
        if from == to { return [] }
        let known = lastRecords(from: from, to: to)
        guard let first = known.first else {
            return [YapDatabaseCommit(external: to, missedCommits: to.count(since: from))]
        }
        var commits = known.map { YapDatabaseCommit($0) }
        // At least one, so that each query for a change returns true.
        if first.previous != from { commits[0].missedCommits = max(1, first.mark.count(since: from)) }
        return commits
    }

    /// Returns the commits up to a mark: from another one if all are known, otherwise the last ones.
    private func lastRecords(from: SnapshotMark, to: SnapshotMark) -> [CommitRecord] {
        state.withLock { state in
            guard let last = state.records.lastIndex(where: { $0.mark == to }) else { return [] }
            var first = last
            while state.records[first].previous != from, first > 0,
                state.records[first - 1].mark == state.records[first].previous
            {
                first -= 1
            }
            return Array(state.records[first...last])
        }
    }

    /// Adds commits right before COMMIT, because a reader may begin before the writer's next step.
    func addPending(_ records: [CommitRecord]) {
        guard let last = records.last else { return }
        state.withLock { state in
            state.records += records
            state.pending = records
            state.changeCount += records.reduce(0) { $0 + $1.changeCount }
            state.newest = last.mark
        }
    }

    /// Removes what `addPending` added, because COMMIT failed.
    func removePending(_ records: [CommitRecord]) {
        guard let first = records.first else { return }
        state.withLock { state in
            state.records.removeLast(records.count)
            state.pending = []
            state.changeCount -= records.reduce(0) { $0 + $1.changeCount }
            // Another process's commit may have been found since.
            if state.newest == records.last?.mark { state.newest = first.previous }
        }
    }

    /// Makes the pending commits final: queues them for observers, and removes the oldest ones.
    ///
    /// - Parameter infos: The app's `commitInfo` by commit number. The log doesn't store it.
    func confirm(_ records: [CommitRecord], infos: [UInt64: any Sendable] = [:]) {
        // Released after the lock, because it can own extensions and objects of the app.
        _ = state.withLock { state -> ([RegisteredExtension], [YapDatabaseCommit], [CommitRecord]) in
            let registryBefore = state.registry
            state.pending = []
            var dropped: [YapDatabaseCommit] = []
            for record in records {
                if let registry = record.registry { state.registry = registry }
                let info = infos.isEmpty ? nil : infos[record.mark.number]
                if let commit = publisher.enqueue(YapDatabaseCommit(record, info: info)) {
                    dropped.append(commit)
                }
            }
            guard state.records.count > Self.recordsMax || state.changeCount > Self.changesMax else {
                return (registryBefore, dropped, [])
            }
            // A quarter at a time, because each removal moves all remaining elements.
            var surplus = min(max(0, state.records.count - Self.recordsMax * 3 / 4), state.records.count - 1)
            var changeCount = state.records[..<surplus].reduce(0) { $0 + $1.changeCount }
            while surplus < state.records.count - 1, state.changeCount - changeCount > Self.changesMax {
                changeCount += state.records[surplus].changeCount
                surplus += 1
            }
            state.changeCount -= changeCount
            let forgotten = Array(state.records[..<surplus])
            state.records.removeFirst(surplus)
            return (registryBefore, dropped, forgotten)
        }
    }

    /// Notifies observers of a commit that no record explains, if it is newer than all known commits.
    func noteUnexplained(_ mark: SnapshotMark) {
        _ = state.withLock { state -> YapDatabaseCommit? in
            guard mark.number > state.newest.number else { return nil }
            state.newest = mark
            return publisher.enqueue(YapDatabaseCommit(external: mark))
        }
    }
}

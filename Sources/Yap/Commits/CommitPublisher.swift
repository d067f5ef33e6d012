import System

/// Delivers commits to observers on the thread that committed: in order, one at a time, with no lock held.
/// Writes wait for these observers, so only the package's own observers are called, which never block. For an
/// app's observer, a `HandlerQueue` receives the commits.
final class CommitPublisher: Sendable {
    typealias Observer = @Sendable (YapDatabaseCommit) -> Void
    /// Maximum commits queued for a slow observer. The oldest are dropped first, and the next commit has
    /// their number.
    static let queuedCommitsMax = 1024

    private struct State {
        var queue: [YapDatabaseCommit] = []
        var isDraining = false
        var observers: [Entry] = []
        var nextID: UInt64 = 1
        var newestSnapshot: UInt64 = 0
        var isEnded = false
    }

    private struct Entry {
        let id: UInt64
        let observer: Observer
        let whenEnded: @Sendable () -> Void
        let whenRemoved: @Sendable () -> Void
    }

    private let state = Lock(State())

    /// Sets the commit that the database begins with.
    func start(at snapshot: UInt64) {
        state.withLock { $0.newestSnapshot = snapshot }
    }

    /// Adds an observer. Returns its identifier and the newest commit at that moment.
    func add(
        _ observer: @escaping Observer, whenEnded: @escaping @Sendable () -> Void = {},
        whenRemoved: @escaping @Sendable () -> Void = {}
    ) -> (id: UInt64, snapshot: UInt64) {
        let (added, isEnded) = state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            if !state.isEnded {
                state.observers.append(
                    Entry(id: id, observer: observer, whenEnded: whenEnded, whenRemoved: whenRemoved))
            }
            return ((id: id, snapshot: state.newestSnapshot), state.isEnded)
        }
        if isEnded { whenEnded() }
        return added
    }

    /// Removes all observers, and notifies them that no more commits will follow.
    func end() {
        let observers = state.withLock { state in
            let observers = state.observers
            state.observers = []
            state.isEnded = true
            return observers
        }
        for entry in observers { entry.whenEnded() }
    }

    func remove(_ id: UInt64) {
        // Released outside the lock: the closure may own a stream, and ending it calls back into this object.
        let removed = state.withLock { state in
            let removed = state.observers.filter { $0.id == id }
            state.observers.removeAll { $0.id == id }
            return removed
        }
        for entry in removed { entry.whenRemoved() }
    }

    /// Queues a commit. Returns the commit that was dropped for it, which the caller releases with no lock held,
    /// because it may own objects of the app.
    func enqueue(_ commit: YapDatabaseCommit) -> YapDatabaseCommit? {
        state.withLock { state in
            state.newestSnapshot = max(state.newestSnapshot, commit.snapshot)
            guard !state.observers.isEmpty else { return nil }
            state.queue.append(commit)
            guard state.queue.count > Self.queuedCommitsMax else { return nil }
            let dropped = state.queue.removeFirst()
            state.queue[0].add(missed: dropped)
            return dropped
        }
    }

    /// Delivers the queued commits. If another thread is already delivering, that thread delivers these too.
    func drain() {
        let isOurs = state.withLock { state in
            if state.isDraining || state.queue.isEmpty { return false }
            state.isDraining = true
            return true
        }
        guard isOurs else { return }
        while let (commit, observers) = next() {
            for entry in observers { entry.observer(commit) }
        }
    }

    private func next() -> (YapDatabaseCommit, [Entry])? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isDraining = false
                return nil
            }
            return (state.queue.removeFirst(), state.observers)
        }
    }
}

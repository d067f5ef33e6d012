package import System

/// Runs all work on the thread that calls it, in the order in which it came, for tests and simulations.
package final class ManualScheduler: SyncScheduler {
    /// Maximum number of pieces of work in one `runUntilQuiet`. More means an endless loop.
    package static let stepsMax = 100_000

    private struct State {
        var work: [@Sendable () -> Void] = []
        var wakes: [(owner: ObjectIdentifier, atMilliseconds: Int64, work: @Sendable () -> Void)] = []
    }

    private let clock: any TimeSource
    private let state = Lock(State())

    package init(clock: any TimeSource) {
        self.clock = clock
    }

    package func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
    }

    package func wake(
        _ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void
    ) {
        // The work before it is released after the lock.
        _ = state.withLock { state in
            let before = state.wakes.filter { $0.owner == owner }
            state.wakes.removeAll { $0.owner == owner }
            if let atMilliseconds { state.wakes.append((owner, atMilliseconds, work)) }
            return before
        }
    }

    /// Time of the next wake in milliseconds since 1970, or nil if none is set.
    package var nextWakeMilliseconds: Int64? {
        state.withLock { $0.wakes.map(\.atMilliseconds).min() }
    }

    /// Runs pending work and due wakes until none is left.
    /// - Returns: Number of pieces of work that ran.
    @discardableResult
    package func runUntilQuiet() -> Int {
        let steps = run(stepsMax: Self.stepsMax)
        precondition(steps < Self.stepsMax, "the sync doesn't come to rest")
        return steps
    }

    /// Runs pending work and due wakes, but no more than `stepsMax` pieces.
    /// - Returns: Number of pieces of work that ran.
    @discardableResult
    package func run(stepsMax: Int) -> Int {
        for steps in 0..<stepsMax {
            guard let work = next() else { return steps }
            work()
        }
        return stepsMax
    }

    private func next() -> (@Sendable () -> Void)? {
        let now = clock.nowMilliseconds()
        return state.withLock { state in
            if !state.work.isEmpty { return state.work.removeFirst() }
            let due = state.wakes.indices.filter { state.wakes[$0].atMilliseconds <= now }
            guard let index = due.min(by: { state.wakes[$0].atMilliseconds < state.wakes[$1].atMilliseconds })
            else { return nil }
            return state.wakes.remove(at: index).work
        }
    }
}

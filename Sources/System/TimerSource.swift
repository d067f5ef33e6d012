/// Cancels a timer. Does nothing if the timer has fired already.
public typealias TimerCancel = @Sendable () -> Void

/// A source of timers. With a manual source, a test decides when they fire.
public protocol TimerSource: MonotonicSource {
    /// Runs `body` once after a number of milliseconds, never during this call.
    @discardableResult
    func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel
}

/// Timers over a clock that a test advances. `runDue()` runs the due timers on the calling thread.
public final class ManualTimerSource: TimerSource {
    private struct State {
        var timers: [(number: Int, atMilliseconds: Int64, body: @Sendable () -> Void)] = []
        var lastNumber = 0
    }

    private let clock: any TimeSource
    private let state = Lock(State())

    /// Makes a source without timers.
    public init(clock: any TimeSource) {
        self.clock = clock
    }

    /// Returns the current time of the clock.
    public func elapsedMilliseconds() -> Int64 { clock.nowMilliseconds() }

    /// Stores `body` for the first `runDue()` after its time.
    @discardableResult
    public func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        let atMilliseconds = clock.nowMilliseconds() + max(0, milliseconds)
        let number = state.withLock { state in
            state.lastNumber += 1
            state.timers.append((state.lastNumber, atMilliseconds, body))
            return state.lastNumber
        }
        return { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // The body is released after the lock.
        let removed = state.withLock { state in
            state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    /// Time of the next timer in milliseconds since 1970, or nil if no timer is pending.
    public var nextDueMilliseconds: Int64? {
        state.withLock { $0.timers.map(\.atMilliseconds).min() }
    }

    /// Runs the due timers, earliest first, including timers that become due meanwhile.
    /// - Returns: The number of timers that ran.
    @discardableResult
    public func runDue() -> Int {
        var count = 0
        while let body = nextDue() {
            body()
            count += 1
        }
        return count
    }

    private func nextDue() -> (@Sendable () -> Void)? {
        let now = clock.nowMilliseconds()
        return state.withLock { state in
            let due = state.timers.indices.filter { state.timers[$0].atMilliseconds <= now }
            let first = due.min {
                (state.timers[$0].atMilliseconds, state.timers[$0].number) < (
                    state.timers[$1].atMilliseconds, state.timers[$1].number
                )
            }
            return first.map { state.timers.remove(at: $0).body }
        }
    }
}

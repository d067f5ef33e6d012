#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where a room measures how long something takes: a clock that nobody sets.
public protocol MonotonicSource: Sendable {
    /// Milliseconds since some moment before the program began; never less than at an earlier call.
    func elapsedMilliseconds() -> Int64
}

/// The machine's clock that nobody sets.
public struct SystemMonotonicSource: MonotonicSource {
    /// Makes the machine's clock.
    public init() {}

    /// Milliseconds since the machine was started.
    public func elapsedMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}

/// A clock that stands still until it is told to move.
public final class ManualMonotonicSource: MonotonicSource {
    private let milliseconds = Lock<Int64>(0)

    /// Makes a clock that shows 0.
    public init() {}

    /// What the clock shows.
    public func elapsedMilliseconds() -> Int64 {
        milliseconds.withLock { $0 }
    }

    /// Moves the clock forward.
    public func advance(byMilliseconds duration: Int64) {
        precondition(duration >= 0, "this clock never goes back")
        milliseconds.withLock { $0 += duration }
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A clock for measuring durations. It is never set.
public protocol MonotonicSource: Sendable {
    /// Returns milliseconds since a time before the program started. Never less than in an earlier call.
    func elapsedMilliseconds() -> Int64
}

/// The machine's monotonic clock.
public struct SystemMonotonicSource: MonotonicSource {
    /// Makes the machine's clock.
    public init() {}

    /// Returns milliseconds since the machine was started.
    public func elapsedMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}

/// A clock that changes only when a test advances it.
public final class ManualMonotonicSource: MonotonicSource {
    private let milliseconds = Lock<Int64>(0)

    /// Makes a clock at 0.
    public init() {}

    /// Returns the current time of the clock.
    public func elapsedMilliseconds() -> Int64 {
        milliseconds.withLock { $0 }
    }

    /// Moves the clock forward.
    public func advance(byMilliseconds duration: Int64) {
        precondition(duration >= 0, "this clock never goes back")
        milliseconds.withLock { $0 += duration }
    }
}

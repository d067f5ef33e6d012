#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where a room gets the time of day from, so that a test can set it.
public protocol TimeSource: Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, the unit of every time on the wire and on disk.
    func nowMilliseconds() -> Int64
}

/// The machine's clock.
public struct SystemTimeSource: TimeSource {
    /// Makes the machine's clock.
    public init() {}

    /// The machine's time in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}

/// A clock that stands still until it is told to move.
public final class ManualTimeSource: TimeSource {
    private let milliseconds: Lock<Int64>

    /// Makes a clock that shows `milliseconds` since 1970.
    public init(milliseconds: Int64 = 1_700_000_000_000) {
        self.milliseconds = Lock(milliseconds)
    }

    /// What the clock shows, in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 {
        milliseconds.withLock { $0 }
    }

    /// Moves the clock forward (or, to try what a device with a wrong clock does, back).
    public func advance(bySeconds seconds: Double) {
        milliseconds.withLock { $0 += Int64((seconds * 1000).rounded()) }
    }
}

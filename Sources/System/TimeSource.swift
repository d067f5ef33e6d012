#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A source of the time of day, which a test can set.
public protocol TimeSource: Sendable {
    /// Returns milliseconds since 1970-01-01T00:00:00Z, the unit of all times on the wire and on disk.
    func nowMilliseconds() -> Int64
}

/// The machine's clock.
public struct SystemTimeSource: TimeSource {
    /// Makes the machine's clock.
    public init() {}

    /// Returns the machine's time in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}

/// A clock that changes only when a test advances it.
public final class ManualTimeSource: TimeSource {
    private let milliseconds: Lock<Int64>

    /// Makes a clock at `milliseconds` since 1970.
    public init(milliseconds: Int64 = 1_700_000_000_000) {
        self.milliseconds = Lock(milliseconds)
    }

    /// Returns the current time of the clock in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 {
        milliseconds.withLock { $0 }
    }

    /// Moves the clock. Negative seconds set it back, to test a device with a wrong clock.
    public func advance(bySeconds seconds: Double) {
        milliseconds.withLock { $0 += Int64((seconds * 1000).rounded()) }
    }
}

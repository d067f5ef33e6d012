public import Foundation
public import System

/// The clock of a `TestCloud`. It stands still until the test moves it.
public final class TestClock: TimeSource {
    private let source = ManualTimeSource()

    /// The current time. A record that is saved now gets it as its dates.
    public var date: Date { Date(timeIntervalSince1970: Double(nowMilliseconds()) / 1000) }

    /// Returns the current time in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 { source.nowMilliseconds() }

    /// Moves the clock.
    /// - Parameter seconds: the seconds to add; negative to test a device with a wrong clock.
    public func advance(bySeconds seconds: Double) { source.advance(bySeconds: seconds) }
}

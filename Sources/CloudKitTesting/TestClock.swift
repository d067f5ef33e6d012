public import Foundation
public import System

/// The clock of a `TestCloud`. It stands still until the test moves it.
public final class TestClock: TimeSource {
    private let source = ManualTimeSource()

    /// What the clock shows: what a record that is saved now has as its dates.
    public var date: Date { Date(timeIntervalSince1970: Double(nowMilliseconds()) / 1000) }

    /// What the clock shows, in milliseconds since 1970.
    public func nowMilliseconds() -> Int64 { source.nowMilliseconds() }

    /// Moves the clock forward (or, to try what a device with a wrong clock does, back).
    public func advance(bySeconds seconds: Double) { source.advance(bySeconds: seconds) }
}

import FoundationEssentials
import System

/// The clock that decides when actions are due.
///
/// ```swift
/// let clock = YapDatabaseManualClock(Date(timeIntervalSince1970: 1_700_000_000))
/// let running = Task {
///     try await database.run(uploads, clock: .manual(clock)) { try await upload($0.object) }
/// }
/// clock.advance(bySeconds: 60)
/// ```
public struct YapDatabaseActionClock: Sendable {
    let time: any TimeSource
    let timers: any TimerSource

    /// The machine's clock.
    public static var system: Self { Self(time: SystemTimeSource(), timers: WallTimerSource()) }

    /// Returns a clock that a test advances.
    public static func manual(_ clock: YapDatabaseManualClock) -> Self {
        Self(time: clock.time, timers: clock.timers)
    }
}

/// A clock that changes only when a test advances it.
public final class YapDatabaseManualClock: Sendable {
    let time: ManualTimeSource
    let timers: ManualTimerSource

    /// Creates a clock at a date.
    public init(_ date: Date) {
        time = ManualTimeSource(milliseconds: ActionTime.milliseconds(date))
        timers = ManualTimerSource(clock: time)
    }

    /// Current date of the clock, in whole milliseconds.
    public var date: Date { ActionTime.date(time.nowMilliseconds()) }

    /// Moves the clock, and wakes runners with actions that are then due.
    ///
    /// - Parameter seconds: Seconds to move forward. Negative to set the clock back.
    public func advance(bySeconds seconds: Double) {
        time.advance(bySeconds: seconds)
        timers.runDue()
    }
}

import Dispatch
package import System

/// The operating system's timers. Each body has a serial queue of its own, so one that blocks delays no other.
package final class DispatchTimerSource: TimerSource {
    /// The one that everybody shares.
    package static let shared = DispatchTimerSource()

    /// Makes a source.
    package init() {}

    /// Milliseconds since the machine was started.
    package func elapsedMilliseconds() -> Int64 { SystemMonotonicSource().elapsedMilliseconds() }

    /// Runs `body` on a queue of its own.
    @discardableResult
    package func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        // Taken out when it runs and when it is taken back: the queue keeps its own closure until the time has come.
        let kept = Lock<(@Sendable () -> Void)?>(body)
        let take: @Sendable () -> (@Sendable () -> Void)? = {
            kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
        }
        let deadline = DispatchTime.now() + .milliseconds(Int(clamping: max(0, milliseconds)))
        DispatchQueue(label: "Timer").asyncAfter(deadline: deadline) { take()?() }
        return { _ = take() }
    }
}

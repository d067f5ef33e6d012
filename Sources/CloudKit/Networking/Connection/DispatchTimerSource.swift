import Dispatch
package import System

/// The timers of the operating system. Each body has a serial queue of its own, so a blocking body doesn't delay
/// others.
package final class DispatchTimerSource: TimerSource {
    /// The shared instance.
    package static let shared = DispatchTimerSource()

    /// Makes a source.
    package init() {}

    /// Milliseconds since the machine has booted.
    package func elapsedMilliseconds() -> Int64 { SystemMonotonicSource().elapsedMilliseconds() }

    /// Runs `body` on a queue of its own.
    @discardableResult
    package func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        // Removed when it runs or is cancelled, because the queue keeps its closure until the timer fires.
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

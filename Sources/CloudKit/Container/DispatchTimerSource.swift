import Dispatch
package import Seams

/// The operating system's timers. Bodies may run at the same time: one that blocks delays no other.
package final class DispatchTimerSource: TimerSource {
    /// The one that everybody shares.
    package static let shared = DispatchTimerSource()

    private let queue = DispatchQueue(label: "Timers", attributes: .concurrent)

    /// Makes a source with a queue of its own.
    package init() {}

    /// Milliseconds since the machine was started.
    package func elapsedMilliseconds() -> Int64 { SystemMonotonicSource().elapsedMilliseconds() }

    /// Runs `body` on the source's queue.
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
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: max(0, milliseconds)))) {
            take()?()
        }
        return { _ = take() }
    }
}

import Dispatch
package import Seams

/// The operating system's timers. Bodies run on one serial queue and must be short.
package final class DispatchTimerSource: TimerSource {
    /// The one that everybody shares.
    package static let shared = DispatchTimerSource()

    private let queue = DispatchQueue(label: "Timers")

    /// Makes a source with a queue of its own.
    package init() {}

    /// Runs `body` on the source's queue.
    @discardableResult
    package func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        let isTaken = Lock(false)
        let take: @Sendable () -> Bool = {
            isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
        }
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: max(0, milliseconds)))) {
            if take() { body() }
        }
        return { _ = take() }
    }
}

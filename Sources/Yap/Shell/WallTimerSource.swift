import Dispatch
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Timers of the operating system that follow the wall clock. If the clock is set forward, they fire earlier.
/// If it is set back, they fire after the original delay: too early by the clock, but not hours late.
final class WallTimerSource: TimerSource {
    private let clock: any TimeSource

    init(clock: any TimeSource = SystemTimeSource()) { self.clock = clock }

    /// Milliseconds since the machine was started.
    func elapsedMilliseconds() -> Int64 { SystemMonotonicSource().elapsedMilliseconds() }

    /// Runs `body` on a queue of its own.
    @discardableResult
    func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        let queue = DispatchQueue(label: "Yap.timer")
        let timers = (0..<2).map { _ in DispatchSource.makeTimerSource(queue: queue) }
        // Removed when the first timer fires and when they are cancelled. Until then the handlers keep them alive.
        let kept = Lock<[any DispatchSourceTimer]>(timers)
        let take: @Sendable () -> [any DispatchSourceTimer] = {
            kept.withLock { kept in
                defer { kept = [] }
                return kept
            }
        }
        for timer in timers {
            timer.setEventHandler {
                let timers = take()
                guard !timers.isEmpty else { return }
                for timer in timers { timer.cancel() }
                body()
            }
        }
        let pause = max(0, milliseconds)
        let at = clock.nowMilliseconds() + pause
        let time = timespec(tv_sec: Int(at / 1000), tv_nsec: Int(at % 1000) * 1_000_000)
        timers[0].schedule(wallDeadline: DispatchWallTime(timespec: time))
        timers[1].schedule(deadline: .now() + .milliseconds(Int(clamping: pause)))
        for timer in timers { timer.activate() }
        return { for timer in take() { timer.cancel() } }
    }
}

import Dispatch
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The operating system's timers by the time of day. When the clock is set forward, they follow it. When it is set
/// back, they run after the time that was to pass: too early by the clock, but not hours late.
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
        // Taken out when the first one runs and when they are taken back; until then the handlers keep them alive.
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

import Dispatch
import Seams

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The operating system's timers by the time of day: when the clock is set, they follow it.
final class WallTimerSource: TimerSource {
    private let clock = SystemTimeSource()

    /// Milliseconds since the machine was started.
    func elapsedMilliseconds() -> Int64 { SystemMonotonicSource().elapsedMilliseconds() }

    /// Runs `body` on a queue of its own.
    @discardableResult
    func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "Yap.timer"))
        // Taken out when it runs and when it is taken back; until then the handler keeps it alive.
        let kept = Lock<(any DispatchSourceTimer)?>(timer)
        let take: @Sendable () -> (any DispatchSourceTimer)? = {
            kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
        }
        timer.setEventHandler {
            guard let timer = take() else { return }
            timer.cancel()
            body()
        }
        let at = clock.nowMilliseconds() + max(0, milliseconds)
        let time = timespec(tv_sec: Int(at / 1000), tv_nsec: Int(at % 1000) * 1_000_000)
        timer.schedule(wallDeadline: DispatchWallTime(timespec: time))
        timer.activate()
        return { take()?.cancel() }
    }
}

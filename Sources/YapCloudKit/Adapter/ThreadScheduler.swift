import Dispatch
internal import System

/// Runs work on a queue of its own, for apps.
package final class ThreadScheduler: SyncScheduler {
    /// The timer of an owner. It is reused, because each operation has a deadline and most are never reached.
    private struct Wake {
        let timer: any DispatchSourceTimer
        var work: (@Sendable () -> Void)?
    }

    private let queue = DispatchQueue(label: "YapCloudKit")
    private let clock = SystemTimeSource()
    private let wakes = Lock<[ObjectIdentifier: Wake]>([:])

    package init() {}

    deinit {
        for wake in wakes.withLock({ $0 }).values { wake.timer.cancel() }
    }

    package func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    package func wake(
        _ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void
    ) {
        let now = clock.nowMilliseconds()
        // The work before it is released after the lock.
        _ = wakes.withLock { wakes -> Wake? in
            let before = wakes[owner]
            guard let atMilliseconds else {
                wakes[owner]?.work = nil
                wakes[owner]?.timer.schedule(deadline: .distantFuture)
                return before
            }
            let timer = before?.timer ?? newTimer(owner)
            wakes[owner] = Wake(timer: timer, work: work)
            timer.schedule(deadline: .now() + .milliseconds(Int(clamping: max(0, atMilliseconds - now))))
            return before
        }
    }

    private func newTimer(_ owner: ObjectIdentifier) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in
            let work = self?.wakes.withLock { wakes in
                defer { wakes[owner]?.work = nil }
                return wakes[owner]?.work
            }
            work??()
        }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        return timer
    }
}

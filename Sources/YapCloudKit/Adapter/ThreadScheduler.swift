import Dispatch
internal import Seams

/// A thread of its own, for apps.
package final class ThreadScheduler: SyncScheduler {
    private let queue = DispatchQueue(label: "YapCloudKit")
    private let clock = SystemTimeSource()
    /// Numbers the wakes, so that one that was replaced does nothing.
    private let wakes = Lock<[ObjectIdentifier: Int]>([:])

    package init() {}

    package func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    package func wake(
        _ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void
    ) {
        let number = wakes.withLock { wakes in
            wakes[owner, default: 0] += 1
            return wakes[owner]
        }
        guard let atMilliseconds else { return }
        let delay = max(0, atMilliseconds - clock.nowMilliseconds())
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: delay))) { [self] in
            if wakes.withLock({ $0[owner] }) == number { work() }
        }
    }
}

import CloudKit
import Dispatch
import Foundation
import Simulation
import System
import YapCloudKit

/// A clock that runs many times as fast as the machine's: pauses of seconds pass in milliseconds.
final class HastyTimeSource: TimeSource {
    static let factor: Int64 = 200
    private let system = SystemTimeSource()
    private let start: Int64

    init() {
        start = system.nowMilliseconds()
    }

    func nowMilliseconds() -> Int64 {
        start + (system.nowMilliseconds() - start) * Self.factor
    }
}

/// Runs the work of a sync on a queue of its own, by the hasty clock.
final class HastyScheduler: SyncScheduler {
    private let queue = DispatchQueue(label: "hasty")
    private let clock: HastyTimeSource
    private let wakes = Lock<[ObjectIdentifier: Int]>([:])

    init(clock: HastyTimeSource) {
        self.clock = clock
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    func wake(_ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void) {
        let number = wakes.withLock { wakes in
            wakes[owner, default: 0] += 1
            return wakes[owner]
        }
        guard let atMilliseconds else { return }
        let delay = max(0, atMilliseconds - clock.nowMilliseconds()) / HastyTimeSource.factor
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: delay))) { [self] in
            if wakes.withLock({ $0[owner] }) == number { work() }
        }
    }
}

/// The operating system's timers, by the hasty clock.
final class HastyTimerSource: TimerSource {
    private let timers = DispatchTimerSource()

    func elapsedMilliseconds() -> Int64 { timers.elapsedMilliseconds() * HastyTimeSource.factor }

    @discardableResult
    func after(milliseconds: Int64, _ body: @escaping @Sendable () -> Void) -> TimerCancel {
        timers.after(milliseconds: milliseconds / HastyTimeSource.factor, body)
    }
}

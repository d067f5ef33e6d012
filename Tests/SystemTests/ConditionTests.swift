import System
import Testing

/// Threads that are started, and wait.
@Suite struct ConditionTests {
    @Test func aThreadRunsAndIsJoined() throws {
        let name = Lock("")
        let thread = try SystemThread(name: "a name longer than 15 bytes", stackBytes: 1 << 20) {
            let file = try? OpenFile("/proc/thread-self/comm", .reading)
            let bytes = (try? file?.readToEnd(bytesMax: 64)) ?? []
            name.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
        }
        #expect(!thread.isCurrent)
        thread.join()
        #expect(name.withLock { $0 } == "a name longer t\n")
    }

    @Test func aThreadThatCantBeStartedIsAnError() {
        #expect(throws: SystemThread.NotStarted.self) {
            try SystemThread.detach(name: "huge", stackBytes: 1 << 60) {}
        }
    }

    @Test func aWaitEndsByASignalOrWhenItsTimeIsUp() throws {
        let waiters = Waiters()
        try SystemThread.detach(name: "waker") { waiters.wake() }
        #expect(waiters.wait() == 1)
        #expect(waiters.waitUntilTimeIsUp())
    }

    /// A number that one thread sets, and another waits for.
    private final class Waiters: Sendable {
        private let number = Monitor(0)
        private let condition = Condition()

        func wake() {
            number.withLock { $0 = 1 }
            condition.broadcast()
        }

        func wait() -> Int { number.wait(on: condition) { $0 == 0 ? nil : $0 } }

        /// True if the body is tried again without a wake.
        func waitUntilTimeIsUp() -> Bool {
            let clock = SystemMonotonicSource()
            let start = clock.elapsedMilliseconds()
            return number.wait(on: condition, pause: { _ in 20 }) { _, timeIsUp in
                timeIsUp ? clock.elapsedMilliseconds() - start >= 19 : nil
            }
        }
    }

    @Test func aWaitThatTakesNoTimeEndsAtOnce() {
        let mutex = Mutex(), condition = Condition()
        mutex.lock(for: Int.self)
        defer { mutex.unlock() }
        let end = Condition.Deadline(afterMilliseconds: -5)
        let isSignalled = condition.wait(mutex, until: end)
        #expect(!isSignalled)
    }
}

import Foundation
import System
import Testing

/// A lock that its own thread locks again.
@Suite struct LockTests {
    @Test func aLockThatItsThreadTakesTwiceEndsTheProcessWithAMessage() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
        ) {
            let lock = Lock(["a"])
            lock.withLock { _ in lock.withLock { $0 = [] } }
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("Lock of Swift.Array<Swift.String>: The thread that holds this lock"))
    }

    @Test func aLockIsFreeAgainWhenItsBodyThrows() {
        struct Failure: Error {}
        let lock = Lock(0)
        #expect(throws: Failure.self) { try lock.withLock { _ in throw Failure() } }
        #expect(lock.withLock { $0 } == 0)
    }
}

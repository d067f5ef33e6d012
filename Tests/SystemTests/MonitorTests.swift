import Foundation
import System
import Testing

/// A monitor that its own thread locks again.
@Suite struct MonitorTests {
    @Test func aMonitorThatItsThreadLocksTwiceEndsTheProcessWithAMessage() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
        ) {
            let monitor = Monitor(0), condition = Condition()
            _ = monitor.withLock { _ in monitor.wait(on: condition) { $0 == 0 ? true : nil } }
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("Lock of Swift.Int: The thread that holds this lock locked it again"))
    }
}

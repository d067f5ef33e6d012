import Foundation
import Testing

@testable import CloudService

/// A monitor that its own thread locks again.
@Suite struct MonitorTests {
    @Test func aMonitorThatItsThreadLocksTwiceEndsTheProcessWithAMessage() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]
        ) {
            let monitor = Monitor(0, conditionCount: 1)
            _ = monitor.withLock { _ in monitor.wait(on: 0) { $0 == 0 ? true : nil } }
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("Lock of Swift.Int: The thread that holds this lock locked it again"))
    }
}

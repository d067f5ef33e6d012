import CloudKit
import CloudKitTesting
import Foundation
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// The queue is counted on one thread, and pages are applied on others.
@Suite struct StaleCountTests {
    @Test func aCountFromBeforeAPageNeverHidesWhatThePageLeftToSend() throws {
        let device = try HandledDevice(TestCloud())
        device.scheduler.runUntilQuiet()
        let runner = device.cloudKit.runner
        // The count reads, and before it is told a page's transaction queues something and tells that.
        let old = try #require(try runner.countQueues())
        let task = SyncTask(key: DatabaseKey(nil), attempt: 0)
        let (_, count) = try #require(
            runner.write(task) { transaction, _ in
                try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            })
        device.cloudKit.suspend()
        runner.post(.applied(task.key, count))
        runner.tell(old)
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .waiting(until: nil, because: .suspended))
    }
}

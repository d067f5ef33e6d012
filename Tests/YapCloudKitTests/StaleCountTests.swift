import CloudKit
import CloudKitTesting
import Foundation
import System
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
        let open = try #require(runner.session.open())
        let old = try runner.countQueues(open)
        let job = SyncJob(
            runner: runner, key: DatabaseKey(nil), attempt: 0, sessionStart: runner.session.start)
        let (_, count) = try #require(
            job.write { transaction, _ in
                try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            })
        device.cloudKit.suspend()
        runner.post(.applied(job.key, count))
        for event in old { runner.post(event) }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.waits(for: .suspended))
    }

    @Test("164. a page's count that is reported after that of a later edit never hides the edit")
    func aCountFromBeforeAnEditNeverHidesIt() throws {
        let device = try HandledDevice(TestCloud())
        device.scheduler.runUntilQuiet()
        let runner = device.cloudKit.runner
        device.cloudKit.suspend()
        let job = SyncJob(
            runner: runner, key: DatabaseKey(nil), attempt: 0, sessionStart: runner.session.start)
        let (_, old) = try #require(job.write { _, _ in })
        try device.database.newConnection().blocking.readWrite {
            try $0.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
        }
        device.scheduler.runUntilQuiet()
        runner.post(.applied(job.key, old))
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.waits(for: .suspended))
    }

    @Test("164. the device isn't reported as idle while an edit isn't counted yet")
    func idleIsNotReportedBeforeAnEditIsCounted() async throws {
        let cloud = TestCloud()
        let device = try SyncedDevice(cloud)
        device.scheduler.runUntilQuiet()
        let held = HeldAnswers(cloud, to: "changes/zone")
        device.sync.fetch()
        device.scheduler.runUntilQuiet()
        #expect(held.count == 1)
        let statuses = device.sync.status
        // The page is written down, and the edit committed, before the sync looks at either.
        held.release()
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        while held.count > 0 {
            held.release()
            device.scheduler.runUntilQuiet()
        }
        try await device.database.close()
        var told: [CloudSyncStatus] = []
        for await status in statuses { told.append(status) }
        let before = told.prefix { $0.state != .idle }
        #expect(before.contains { $0.state == .syncing && $0.pendingCount == 1 }, "\(told)")
        #expect(told.dropLast().last?.state == .idle, "\(told)")
    }
}

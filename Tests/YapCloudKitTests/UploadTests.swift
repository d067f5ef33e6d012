import CloudKit
import CloudKitTesting
import CloudWire
import Seams
import Testing
import Yap

@testable import YapCloudKit

/// The extension's uploads, against the real service.
@Suite struct UploadTests {
    let cloud = TestCloud()
    let device: HandledDevice

    init() throws {
        device = try HandledDevice(cloud)
    }

    @Test("90, 97. uploads run when the suspend count is 0, and resuming beyond that is harmless")
    func uploadsRunAtZero() throws {
        for _ in 0..<3 { device.cloudKit.suspend() }
        #expect(device.cloudKit.suspend(count: 0) == 3)
        try device.set(Todo(title: "a"), "1")
        for left in [2, 1] {
            #expect(device.cloudKit.resume() == left)
            device.scheduler.runUntilQuiet()
            #expect(device.server("1") == nil)
        }
        #expect(device.cloudKit.status == .waiting(until: nil, because: .suspended))
        #expect(device.cloudKit.resume() == 0)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") != nil)
        #expect(device.cloudKit.resume() == 0)
        #expect(device.cloudKit.status == .idle)
    }

    @Test("92. a lost request is repeated, byte for byte, after a pause")
    func aLostRequestIsRepeated() throws {
        device.lose(.loseRequest)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.seen.errors.map(\.code) == [.networkFailure])
        let queue = try device.queue()
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 2)
        device.scheduler.runUntilQuiet()
        #expect(queue.count == 1)
        #expect(device.cloudKit.status == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("93, 95. a conflict in a batch: it is merged, and the others don't get lost")
    func aConflictInABatch() throws {
        for key in ["1", "2", "3"] { try device.uploaded(Todo(title: "a"), key) }
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] { try transaction.edit(key) { $0.isDone = true } }
        }
        device.changeOnServer("2") { $0["title"] = "z" }
        #expect(device.upload() == .idle)
        for key in ["1", "2", "3"] { #expect(device.server(key)?["done"] == true) }
        #expect(try device.todo("2") == Todo(title: "z", isDone: true))
    }

    @Test("102. without a database for its identifier a change waits, and that can be seen")
    func withoutADatabaseAChangeWaits() throws {
        device.behave { $0.knowsPublic = false }
        try device.set(Todo(title: "a"), "1", in: "shared")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .needsAttention([.unknownDatabase(identifier: "public")]))
        device.behave { $0.knowsPublic = true }
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("103. 1,000 inserts of one transaction go up in batches, and the rest alone after a relaunch")
    func aThousandInsertsGoUpInBatches() throws {
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            for number in 0..<1000 {
                try transaction.setObject(
                    Todo(title: "t\(number)"), forKey: "\(number)", inCollection: "todos")
            }
        }
        let before = device.modifyRequests
        // After the first batch the network goes.
        let requests = Lock(0)
        cloud.networkFault = { request in
            guard request.path.hasSuffix("records/modify") else { return .none }
            return requests.withLock { count in
                count += 1
                return count > 1 ? .loseRequest : .none
            }
        }
        device.upload()
        cloud.networkFault = nil
        #expect(try device.read { _, ext in try ext.pendingChangeSets().first?.recordsToSave.count } == 600)
        try device.relaunch()
        #expect(device.upload() == .idle)
        #expect(device.modifyRequests - before == 4)
        #expect(device.server("999")?["title"] == "t999")
    }

    @Test("104. a server's pause is kept to, then the change goes")
    func aServersPauseIsKeptTo() throws {
        cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 1)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        cloud.clock.advance(bySeconds: 2.9)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") == nil)
        cloud.clock.advance(bySeconds: 0.5)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("106. a save of what another device deleted makes it again, whole")
    func aSaveOfWhatAnotherDeviceDeleted() throws {
        try device.uploaded(Todo(title: "a", priority: 3), "1")
        device.deleteOnServer("1")
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["priority"] == 3)
    }

    @Test("108. suspended for ever: the queue shows what would be sent, and nothing is")
    func aDryRun() throws {
        device.cloudKit.suspend()
        let requests = cloud.requestCount()
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(try device.queue().count == 1)
        #expect(cloud.requestCount() == requests)
    }

    @Test("a change that the server refuses is put aside, shown, and goes with the next change of its record")
    func aRefusedChangeGoesWithTheNext() throws {
        try device.uploaded(Todo(title: "a"), "1")
        cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .needsAttention([.refused(recordName: "1", .permissionFailure)]))
        try device.set(Todo(title: "x"), "2")
        device.scheduler.runUntilQuiet()
        #expect(device.server("2")?["title"] == "x")
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .needsAttention([.refused(recordName: "1", .permissionFailure)]))
        try device.edit("1") { $0.isDone = true }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["done"] == true)
    }

    @Test func aRefusedChangeThatTheAppTakesOutOfTheQueueIsNoProblemAnyMore() throws {
        try device.uploaded(Todo(title: "a"), "1")
        cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        try device.write { _, ext in
            _ = try ext.removeRemotelyDeletedRecord(device.id("1"), databaseIdentifier: nil)
        }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
    }

    @Test func whatAMergeChangesInAnotherDatabaseIsSentToo() throws {
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.writesShared = true }
        device.changeOnServer("1") { $0["title"] = "b" }
        try device.edit("1") { $0.isDone = true }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
        #expect(device.server("s")?["title"] == "s")
    }

    @Test func aDatabaseThatIsClosedUnderARequestEndsTheWaiting() throws {
        let database = device.database
        cloud.networkFault = { _ in
            try? database.close()
            return .none
        }
        try device.set(Todo(title: "a"), "1")
        let heard = Lock<CloudSyncStatus?>(nil)
        device.cloudKit.runner.whenQuiet { status in heard.withLock { $0 = status } }
        device.scheduler.runUntilQuiet()
        #expect(heard.withLock { $0 } == .waiting(until: nil, because: .localDatabase))
        cloud.networkFault = nil
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .idle)
    }

    @Test("nobody signed in: the change waits, visibly, and goes when the app says so")
    func nobodySignedIn() throws {
        cloud.fail(.modifyRecords, with: .notAuthenticated, times: 1)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status == .needsAttention([.account(.notAuthenticated)]))
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") == nil)
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.server("1")?["title"] == "b")
    }
}

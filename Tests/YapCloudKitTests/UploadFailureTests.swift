import CloudKit
import CloudKitTesting
import CloudWire
import System
import Testing
import Yap

@testable import YapCloudKit

/// Uploads whose failures are the app's (`.app`), against the real service.
@Suite struct UploadFailureTests {
    let cloud = TestCloud()
    let device: HandledDevice

    init() throws {
        device = try HandledDevice(cloud, storage: .keysOnly, failures: .app)
    }

    @Test(
        "92 (app). a network failure suspends by one and is reported once; a resume sends the same change-set"
    )
    func aNetworkFailure() async throws {
        let events = device.cloudKit.events
        device.lose(.loseRequest)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.suspendCount == 1)
        #expect(device.seen.errors.map(\.code) == [.networkFailure])
        #expect(device.seen.errors.map(\.identifier) == [nil])
        #expect(device.cloudKit.status.waits(for: .suspended))
        #expect(try device.counts() == HandledDevice.Counts(inFlight: 0, queued: 1))
        let uuids = try device.uuids()
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 100_000)
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == 1, "nothing is repeated by itself")
        #expect(device.cloudKit.resume() == 0)
        #expect(try device.uuids() == uuids)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1")?["title"] == "a")
        #expect(device.seen.errors.count == 1 && device.cloudKit.status.state == .idle)
        #expect(
            await device.seenEvents(events) == [
                "flies S1", "count 1", "failed networkFailure", "count 0", "flies S1", "done S1 next no",
            ])
    }

    @Test("92 (app). the error of another database is reported with its identifier")
    func theErrorOfAnotherDatabase() throws {
        device.lose(.loseRequest)
        try device.set(Todo(title: "a"), "1", in: "shared")
        device.scheduler.runUntilQuiet()
        #expect(device.seen.errors.map(\.identifier) == ["public"])
    }

    /// Three records of a zone that isn't atomic, changed here; one of them was changed by another device.
    private func threeOfWhichOneConflicts() throws -> HandledDevice {
        let device = try HandledDevice(
            cloud, storage: .keysOnly, failures: .app, zoneID: CKRecordZone.default().zoneID)
        for key in ["1", "2", "3"] { try device.uploaded(Todo(title: "a"), key) }
        device.changeOnServer("2") { $0["title"] = "z" }
        return device
    }

    @Test("93 (app). successful items leave the change-set; after a merge and a resume only the rest is sent")
    func whatSucceededLeavesTheChangeSet() async throws {
        let device = try threeOfWhichOneConflicts()
        let tags = try ["1", "2", "3"].map { try device.tag($0) }
        let events = device.cloudKit.events
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] { try transaction.edit(key) { $0.isDone = true } }
        }
        let uuids = try device.uuids()
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S2{done=1}"])
        #expect(try device.uuids() == uuids)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag && device.tag("1") != tags[0])
        #expect(try device.tag("3") == device.server("3")?.recordChangeTag && device.tag("3") != tags[2])
        #expect(try device.tag("2") == tags[1], "nothing is merged by itself")
        #expect(device.cloudKit.suspendCount == 1)
        let error = try #require(device.seen.wholeErrors.first)
        #expect(device.seen.wholeErrors.count == 1 && error.code == .partialFailure)
        let codes = (error.partialErrorsByItemID ?? [:]).mapValues { ($0 as? CKError)?.code }
        #expect(codes == [device.id("2"): .serverRecordChanged])
        try device.merge(device.server("2"))
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        #expect(device.server("2")?["title"] == "z" && device.server("2")?["done"] == true)
        #expect(try device.queue().isEmpty && device.todo("2") == Todo(title: "z", isDone: true))
        #expect(
            await device.seenEvents(events) == [
                "flies S1,2,3", "count 1", "failed S1,3 partialFailure", "count 0", "flies S2",
                "done S2 next no",
            ])
    }

    @Test("94 (app). deletions that succeeded leave, those that failed remain")
    func deletionsThatSucceededLeave() async throws {
        let device = try threeOfWhichOneConflicts()
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.edit("2") { $0.isDone = true }
            try transaction.removeObject(forKey: "3", inCollection: "todos")
        }
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S2{done=1}"])
        #expect(device.server("1") == nil && device.server("3") == nil)
        cloud.fail(.modifyRecords, with: .zoneBusy)
        device.cloudKit.resume()
        try device.merge(device.server("2"))
        try device.remove("2")
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S2{done=1}", "D2"])
        #expect(device.upload().state == .idle)
        #expect(device.server("2") == nil)
    }

    @Test(
        "95 (app). in an atomic zone nothing leaves, and the conflicting item can be distinguished")
    func anAtomicZone() throws {
        for key in ["1", "2", "3"] { try device.uploaded(Todo(title: "a"), key) }
        device.changeOnServer("2") { $0["title"] = "z" }
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] { try transaction.edit(key) { $0.isDone = true } }
        }
        let queue = try device.queue()
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == queue)
        let errors = try #require(device.seen.wholeErrors.first?.partialErrorsByItemID)
        let codes = errors.mapValues { ($0 as? CKError)?.code }
        #expect(
            codes == [
                device.id("1"): .batchRequestFailed, device.id("2"): .serverRecordChanged,
                device.id("3"): .batchRequestFailed,
            ])
        try device.merge(device.server("2"))
        #expect(device.upload().state == .idle)
        for key in ["1", "2", "3"] { #expect(device.server(key)?["done"] == true) }
    }

    @Test("96 (app). a change-set emptied by a merge is removed without a request")
    func aChangeSetOfWhichNothingIsLeft() throws {
        try device.uploaded(Todo(title: "a"), "1")
        device.changeOnServer("1") { $0["title"] = "z" }
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.seen.wholeErrors.first?.code == .partialFailure)
        try device.merge(device.server("1"))
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests)
        #expect(try device.queue().isEmpty && device.todo("1")?.title == "z")
    }

    @Test(
        "102 (app). without a database for its identifier a change waits; that is reported, and a resume retries"
    )
    func withoutADatabase() throws {
        device.behave { $0.knowsPublic = false }
        try device.set(Todo(title: "a"), "1", in: "shared")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([.unknownDatabase(identifier: "public")]))
        #expect(device.seen.errors.map(\.code) == [.badDatabase])
        #expect(device.seen.errors.map(\.identifier) == ["public"])
        #expect(try device.queue().count == 1)
        device.behave { $0.knowsPublic = true }
        device.cloudKit.suspend()
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("103 (app). after limitExceeded a resume sends half of it")
    func halfOfItAfterLimitExceeded() async throws {
        cloud.fail(.modifyRecords, with: .limitExceeded)
        let events = device.cloudKit.events
        try device.write { transaction, _ in
            for key in ["1", "2", "3", "4"] {
                try transaction.setObject(Todo(title: "a"), forKey: key, inCollection: "todos")
            }
        }
        device.scheduler.runUntilQuiet()
        #expect(device.upload().state == .idle)
        #expect(
            await device.seenEvents(events) == [
                "flies S1,2,3,4", "count 1", "failed limitExceeded", "count 0", "flies S1,2",
                "done S1,2 next yes", "flies S3,4", "done S3,4 next no",
            ])
    }

    @Test("104 (app). a server's pause is the app's to keep: the error has it, and nothing is sent by itself")
    func aServersPauseIsTheApps() throws {
        cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.seen.wholeErrors.first?.retryAfterSeconds == 3)
        cloud.clock.advance(bySeconds: 1000)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") == nil)
        #expect(device.upload().state == .idle)
    }

    @Test(
        "105 (app). each round of the same conflict is reported once; without a resume there is no next one")
    func theSameConflict() throws {
        try device.uploaded(Todo(title: "a"), "1")
        device.changeOnServer("1") { $0["title"] = "z" }
        try device.edit("1") { $0.isDone = true }
        for round in 1...5 {
            device.scheduler.runUntilQuiet()
            #expect(device.seen.errors.count == round)
            #expect(device.modifyRequests == 3 + round - 1)
            #expect(device.cloudKit.suspendCount == 1)
            device.cloudKit.resume()
        }
    }

    @Test("106 (app). a deletion answered by unknownItem is a success; a save is the app's")
    func unknownItem() throws {
        for key in ["1", "2"] { try device.uploaded(Todo(title: "a"), key) }
        cloud.fail(.modifyRecords, with: .unknownItem)
        try device.remove("1")
        device.scheduler.runUntilQuiet()
        #expect(try device.queue().isEmpty && device.seen.errors.isEmpty)
        device.deleteOnServer("2")
        try device.edit("2") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(try device.queue() == ["S2{title=b}"])
        #expect(device.seen.errors.map(\.code) == [.partialFailure] && device.cloudKit.suspendCount == 1)
        try device.write { _, ext in
            _ = try ext.removeRemotelyDeletedRecord(device.id("2"), databaseIdentifier: nil)
        }
        #expect(device.upload().state == .idle)
    }

    @Test("170 (app). a record whose making was not answered is made again, and the log says so")
    func aRemoteDeletionOfWhatWasNotAnswered() throws {
        device.lose(.loseReply)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        cloud.networkFault = nil
        device.deleteOnServer("1")
        let keys = try device.write { _, ext in
            try ext.removeRemotelyDeletedRecord(device.id("1"), databaseIdentifier: nil)
        }
        #expect(keys.isEmpty)
        #expect(
            try device.read { _, ext in try ext.tables.log.logEntries().map(\.rule) } == [.editBeatDeletion])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test(
        "107 (app). a missing zone is reported and not created; after the app has created it a resume sends")
    func aZoneThatIsNotThere() throws {
        let zoneID = CKRecordZone.ID(zoneName: "none")
        let device = try HandledDevice(cloud, failures: .app, zoneID: zoneID)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.suspendCount == 1)
        #expect(cloud.requestCount(.modifyRecordZones) == 2, "the two devices' own")
        let error = try #require(device.seen.wholeErrors.first)
        let item = error.partialErrorsByItemID?[device.id("1")] as? CKError ?? error
        #expect(item.code == .zoneNotFound)
        device.device.container.privateCloudDatabase.add(
            CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)]))
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test(
        "108 (app, keys only). suspended permanently: the queue shows the pending changes, and none is sent")
    func aDryRun() throws {
        device.cloudKit.suspend()
        try device.set(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let requests = cloud.requestCount()
        device.scheduler.runUntilQuiet()
        #expect(try device.queue().last == "S1{title=b}" && device.queue().count == 2)
        #expect(cloud.requestCount() == requests)
    }
}

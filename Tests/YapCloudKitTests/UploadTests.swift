import CloudKit
import CloudKitTesting
import CloudWire
import System
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

    @Test("90, 97 (automatic). uploads run when the suspend count is 0, and resuming beyond that is harmless")
    func uploadsRunAtZero() throws {
        for _ in 0..<3 { device.cloudKit.suspend() }
        #expect(device.cloudKit.suspend(count: 0) == 3)
        try device.set(Todo(title: "a"), "1")
        for left in [2, 1] {
            #expect(device.cloudKit.resume() == left)
            device.scheduler.runUntilQuiet()
            #expect(device.server("1") == nil)
        }
        #expect(device.cloudKit.status.waits(for: .suspended))
        #expect(device.cloudKit.resume() == 0)
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") != nil)
        #expect(device.cloudKit.resume() == 0)
        #expect(device.cloudKit.status.state == .idle)
    }

    @Test("92, 104 (automatic). a lost request is repeated after a pause; nothing is suspended")
    func aLostRequestIsRepeated() async throws {
        device.lose(.loseRequest)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.seen.errors.map(\.code) == [.networkFailure])
        #expect(device.cloudKit.suspendCount == 0)
        let uuids = try device.uuids()
        #expect(uuids.count == 1)
        let events = device.cloudKit.events
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 2)
        device.scheduler.runUntilQuiet()
        #expect(await device.seenEvents(events) == ["flies S1", "done S1 next no"])
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("93, 95 (automatic). a conflict in a batch: it is merged, and the others don't get lost")
    func aConflictInABatch() throws {
        for key in ["1", "2", "3"] { try device.uploaded(Todo(title: "a"), key) }
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] { try transaction.edit(key) { $0.isDone = true } }
        }
        device.changeOnServer("2") { $0["title"] = "z" }
        #expect(device.upload().state == .idle)
        for key in ["1", "2", "3"] { #expect(device.server(key)?["done"] == true) }
        #expect(try device.todo("2") == Todo(title: "z", isDone: true))
    }

    @Test("102 (automatic). without a database for its identifier a change waits, and that can be seen")
    func withoutADatabaseAChangeWaits() throws {
        device.behave { $0.knowsPublic = false }
        try device.set(Todo(title: "a"), "1", in: "shared")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([.unknownDatabase(identifier: "public")]))
        device.behave { $0.knowsPublic = true }
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test(
        "103 (both). 1,000 inserts of one transaction are sent in batches, and only the rest after a relaunch",
        arguments: YapDatabaseCloudKit.FailureHandling.allCases)
    func aThousandInsertsGoUpInBatches(mode: YapDatabaseCloudKit.FailureHandling) throws {
        let device = try HandledDevice(cloud, suspended: true, storage: .keysOnly, failures: mode)
        try device.write { transaction, _ in
            for number in 0..<1000 {
                try transaction.setObject(
                    Todo(title: "t\(number)"), forKey: "\(number)", inCollection: "todos")
            }
        }
        let uuids = try device.uuids()
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
        #expect(try device.uuids() == uuids && device.counts() == .init(inFlight: 0, queued: 1))
        #expect(try device.tag("399") != nil && device.tag("400") == nil, "the first batch is written down")
        try device.relaunch()
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == 4, "400, the lost 400, 400, 200")
        #expect(device.server("999")?["title"] == "t999")
    }

    @Test("103 (automatic). changes larger than a request are split in order")
    func changesLargerThanARequestAreSplit() async throws {
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            for number in 0..<9 {
                let todo = Todo(title: String(repeating: "x", count: 300_000))
                try transaction.setObject(todo, forKey: "\(number)", inCollection: "todos")
            }
        }
        device.scheduler.runUntilQuiet()
        let events = device.cloudKit.events
        #expect(device.upload().state == .idle)
        let flights = await device.seenEvents(events).filter { $0.hasPrefix("flies") }
        #expect(flights == ["flies S0,1,2,3", "flies S4,5,6,7", "flies S8"])
        #expect(device.seen.errors.isEmpty && device.server("8") != nil)
    }

    @Test("103 (automatic). limitExceeded halves and retries by itself, each half committed separately")
    func limitExceededHalves() async throws {
        cloud.fail(.modifyRecords, with: .limitExceeded, times: 2)
        let events = device.cloudKit.events
        try device.write { transaction, _ in
            for key in ["1", "2", "3", "4"] {
                try transaction.setObject(Todo(title: "a"), forKey: key, inCollection: "todos")
            }
        }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(
            await device.seenEvents(events) == [
                "flies S1,2,3,4", "failed limitExceeded", "flies S1,2", "failed limitExceeded", "flies S1",
                "done S1 next yes", "flies S2,3", "done S2,3 next yes", "flies S4", "done S4 next no",
            ])
    }

    @Test("104 (automatic). a server's pause is respected, then the change is sent")
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

    @Test("106 (automatic). a save of a record that another device deleted recreates the whole record")
    func aSaveOfWhatAnotherDeviceDeleted() throws {
        try device.uploaded(Todo(title: "a", priority: 3), "1")
        device.deleteOnServer("1")
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["priority"] == 3)
    }

    @Test(
        "94 (automatic). successful deletions leave the queue; a failed one is sent again with its own changes"
    )
    func deletionsThatSucceededLeave() throws {
        let device = try HandledDevice(cloud, zoneID: CKRecordZone.default().zoneID)
        for key in ["1", "2", "3"] { try device.uploaded(Todo(title: "a"), key) }
        device.changeOnServer("2") { $0["title"] = "z" }
        device.deleteOnServer("3")
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.edit("2") { $0.isDone = true }
            try transaction.removeObject(forKey: "3", inCollection: "todos")
        }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("1") == nil)
        #expect(device.server("2")?["title"] == "z" && device.server("2")?["done"] == true)
    }

    @Test("96 (automatic). a change-set emptied by a merge is removed without another request")
    func aChangeSetOfWhichNothingIsLeft() throws {
        try device.uploaded(Todo(title: "a"), "1")
        device.changeOnServer("1") { $0["title"] = "z" }
        let requests = device.modifyRequests
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == requests + 1)
        #expect(try device.queue().isEmpty && device.todo("1")?.title == "z")
        #expect(device.cloudKit.status.state == .idle)
    }

    @Test("105 (automatic). a conflict that isn't resolved ends as stuck, and never loops")
    func aConflictThatNothingSettles() throws {
        let rounds = SyncEngine.identicalConflictsMax + 1
        try device.uploaded(Todo(title: "a"), "1")
        let requests = device.modifyRequests
        cloud.fail(.modifyRecords, with: .serverRecordChanged, times: rounds)
        try device.edit("1") { $0.title = "b" }
        for _ in 0..<20 {
            cloud.clock.advance(bySeconds: 400)
            device.scheduler.runUntilQuiet()
        }
        #expect(device.modifyRequests == requests + rounds)
        #expect(device.cloudKit.status.needs([.stuck(recordName: "1")]))
        #expect(try device.queue() == ["S1{title=b}"], "quarantined, not dropped")
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("1")?["title"] == "b")
    }

    @Test("107 (automatic). a missing zone is created, and the change is sent again")
    func aZoneThatIsNotThere() throws {
        let device = try HandledDevice(cloud, zoneID: CKRecordZone.ID(zoneName: "none"))
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("1")?["title"] == "a")
    }

    @Test("107 (automatic). for a zone that the user deleted the app decides; a retry recreates it")
    func aZoneThatTheUserDeleted() throws {
        cloud.fail(.modifyRecords, with: .userDeletedZone)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([.zoneDeletedByUser(zoneName: "Z")]))
        #expect(device.seen.errors.map(\.code) == [.userDeletedZone])
        try device.set(Todo(title: "b"), "2")
        cloud.clock.advance(bySeconds: 10_000)
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == 1, "uploads have stopped")
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("2") != nil)
    }

    @Test("a full quota stops saves only: a deletion is sent, and then the saves are retried")
    func aFullQuota() throws {
        try device.uploaded(Todo(title: "a"), "1")
        cloud.fail(.modifyRecords, with: .quotaExceeded, times: 2)
        try device.set(Todo(title: "b"), "2")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([.quotaExceeded]))
        try device.edit("2") { $0.title = "c" }
        cloud.clock.advance(bySeconds: 10_000)
        device.scheduler.runUntilQuiet()
        let requests = device.modifyRequests
        #expect(requests == 2, "no save is tried")
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == 3 && device.cloudKit.status.needs([.quotaExceeded]))
        try device.remove("1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("1") == nil)
        #expect(device.server("2")?["title"] == "c")
    }

    @Test("a full quota: a deletion never overtakes a save of its own record")
    func aDeletionNeverOvertakesItsSave() throws {
        cloud.fail(.modifyRecords, with: .quotaExceeded, times: 2)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        try device.remove("1")
        device.scheduler.runUntilQuiet()
        #expect(device.modifyRequests == 1)
        #expect(device.cloudKit.status.needs([.quotaExceeded]))
        device.cloudKit.retry()
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle && device.server("1") == nil)
    }

    @Test("103 (automatic). a record that refers to one of a later commit is sent again after it")
    func whatRefersToALaterCommit() throws {
        cloud.fail(.modifyRecords, with: .referenceViolation)
        device.cloudKit.suspend()
        try device.set(Todo(title: "child"), "1")
        try device.set(Todo(title: "parent"), "2")
        #expect(device.upload().state == .idle)
        #expect(device.server("1") != nil && device.server("2") != nil)
        #expect(device.seen.errors.map(\.code) == [.referenceViolation])
    }

    @Test("104 (automatic). networkMayBeBack ends a wait for the network, not one that the server requested")
    func networkMayBeBack() throws {
        device.lose(.loseRequest)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        cloud.networkFault = nil
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") == nil)
        device.cloudKit.networkMayBeBack()
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") != nil)
        cloud.fail(.modifyRecords, with: .serviceUnavailable)
        try device.set(Todo(title: "b"), "2")
        device.scheduler.runUntilQuiet()
        device.cloudKit.networkMayBeBack()
        device.scheduler.runUntilQuiet()
        #expect(device.server("2") == nil)
    }

    @Test(
        "123. a share's record is sent with its root in one batch; another user's zone has an identity of its own"
    )
    func aShareIsDeletedWithItsRoot() async throws {
        device.cloudKit.suspend()
        let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_bob")
        let root = device.id("1")
        let theirs = CKRecord.ID(recordName: "1", zoneID: zoneID)
        try device.write { transaction, ext in
            for (type, recordID, key, identifier) in [
                ("todo", root, "1", nil), (CKRecord.SystemType.share, device.id("share"), "s", nil),
                ("todo", theirs, "2", "public" as String?),
            ] {
                let record = CKRecord(recordType: type, recordID: recordID)
                record["title"] = "t"
                try ext.attachRecord(
                    record, databaseIdentifier: identifier, forKey: key, inCollection: "todos",
                    shouldUploadRecord: true)
                try transaction.setObject(Todo(title: "t"), forKey: key, inCollection: "todos")
            }
        }
        device.scheduler.runUntilQuiet()
        let changeSets = try device.read { _, ext in try ext.pendingChangeSets() }
        #expect(changeSets.map(\.databaseIdentifier) == [nil, "public"])
        #expect(changeSets.map(\.recordIDsToSave) == [[root, device.id("share")], [theirs]])
        #expect(changeSets.last?.recordIDsToSave.first?.zoneID.ownerName == "_bob")
        let events = device.cloudKit.events
        device.upload()
        let seen = await device.seenEvents(events)
        #expect(seen.contains("flies S1,share") && seen.contains("flies S1 in public"))
    }

    @Test("108 (automatic). suspended permanently: the queue shows the pending changes, and none is sent")
    func aDryRun() throws {
        device.cloudKit.suspend()
        let requests = cloud.requestCount()
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(try device.queue().count == 1)
        #expect(cloud.requestCount() == requests)
    }

    @Test("a rejected change is quarantined, shown, and sent with the next change of its record")
    func aRejectedChangeIsSentWithTheNext() throws {
        try device.uploaded(Todo(title: "a"), "1")
        let refused = CloudSyncProblem.refused(
            recordName: "1", .permissionFailure, reason: "Ordered by the test.")
        cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([refused]))
        try device.set(Todo(title: "x"), "2")
        device.scheduler.runUntilQuiet()
        #expect(device.server("2")?["title"] == "x")
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([refused]))
        try device.edit("1") { $0.isDone = true }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["done"] == true)
    }

    @Test("changes after a rejected one are tried, since they may resolve it", arguments: [true, false])
    func aCureThatWaitsIsTried(isDeletion: Bool) throws {
        for storage in YapDatabaseCloudKit.QueueStorage.allCases {
            let cloud = TestCloud()
            let device = try HandledDevice(cloud, storage: storage)
            try device.uploaded(Todo(title: "a"), "1")
            device.cloudKit.suspend()
            try device.edit("1") {
                $0.title = "b"
                $0.note = "n"
            }
            if isDeletion {
                try device.write { transaction, _ in
                    try transaction.removeObject(forKey: "1", inCollection: "todos")
                }
            } else {
                try device.edit("1") { $0.title = "c" }
            }
            cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
            device.cloudKit.resume()
            device.scheduler.runUntilQuiet()
            #expect(device.cloudKit.status.state == .idle, "\(storage)")
            #expect(try device.queue().isEmpty)
            #expect(device.server("1")?["title"] == (isDeletion ? nil : "c"))
            #expect(device.server("1")?["note"] == (isDeletion ? nil : "n"))
        }
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
        #expect(device.cloudKit.status.state == .idle)
    }

    @Test func whatAMergeChangesInAnotherDatabaseIsSentToo() throws {
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.writesShared = true }
        device.changeOnServer("1") { $0["title"] = "b" }
        try device.edit("1") { $0.isDone = true }
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("s")?["title"] == "s")
    }

    @Test func aDatabaseThatIsClosedUnderARequestEndsTheWaiting() throws {
        let database = device.database
        cloud.networkFault = { _ in
            try? database.blocking.close()
            return .none
        }
        try device.set(Todo(title: "a"), "1")
        let heard = Lock<CloudSyncStatus?>(nil)
        device.cloudKit.runner.whenQuiet { status in heard.withLock { $0 = status } }
        device.scheduler.runUntilQuiet()
        #expect(heard.withLock { $0 }?.waits(for: .localDatabase) == true)
        cloud.networkFault = nil
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
    }

    @Test("no user signed in: the change is shown as pending, and sent when the app reports a sign-in")
    func aMissingSignIn() throws {
        cloud.fail(.modifyRecords, with: .notAuthenticated, times: 1)
        try device.set(Todo(title: "a"), "1")
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.needs([.account(.notAuthenticated)]))
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(device.server("1") == nil)
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.server("1")?["title"] == "b")
    }
}

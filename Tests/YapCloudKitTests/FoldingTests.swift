import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

/// With folding chosen, a commit joins the newest change-set that nobody has begun to send.
@Suite struct FoldingTests {
    let cloud = TestCloud()
    private let full = "done=0,priority=0,title"

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        let device = try HandledDevice(cloud, suspended: true, storage: form, folds: true)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        return device
    }

    private func take(_ device: HandledDevice) throws -> SyncBatch {
        try device.write { _, ext in
            try ext.takeBatch(DatabaseKey(nil), itemsMax: 400, bytesMax: .max)
        }
    }

    private func saved(_ device: HandledDevice, _ batch: SyncBatch) throws {
        try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = Array(zip(batch.items, batch.saves))
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
    }

    @Test(
        "10. the hundred values of a slider are one upload: the last value, the earliest original, all keys",
        arguments: forms)
    func theHundredValuesOfASlider(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.isDone = true }
        for value in 1...100 { try device.edit("1") { $0.priority = value } }
        #expect(try device.queue() == ["S1{done=1,priority=100}"])
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        let originals = changeSet.originalValues(for: device.id("1"))
        #expect(originals["priority"] as? Int == 0)
        #expect(originals.keys.sorted() == ["done", "priority"])
        #expect(try device.read { _, ext in try ext.tables.counts(DatabaseKey(nil)).pending } == 1)
        try device.relaunch()
        #expect(try device.queue() == ["S1{done=1,priority=100}"])
        #expect(device.seen.restored == (form == .values ? [] : ["1: done,priority"]))
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests + 1)
        #expect(device.server("1")?["priority"] == 100)
        #expect(device.server("1")?["done"] == true)
    }

    @Test("10. different records' commits are one change-set, in their order", arguments: forms)
    func differentRecords(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "b"), "2")
        try device.edit("1") { $0.title = "c" }
        try device.set(Todo(title: "d"), "3", in: "shared")
        #expect(
            try device.queue() == ["S2{\(full)=b} S1{title=c}", "S3{\(full)=d}"], "each database its own")
    }

    @Test("10. a change-set in flight never changes", arguments: forms)
    func aChangeSetInFlightNeverChanges(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        let batch = try take(device)
        try device.edit("1") { $0.title = "c" }
        try device.edit("1") { $0.title = "d" }
        try device.set(Todo(title: "x"), "2")
        #expect(try device.queue() == ["S1{title=b}", "S1{title=d} S2{\(full)=x}"])
        let counts = try device.read { _, ext in try ext.numberOfChangeSets() }
        #expect(counts == (inFlight: 1, queued: 1))
        try saved(device, batch)
        #expect(try device.queue() == ["S1{title=d} S2{\(full)=x}"])
    }

    @Test("10. nor does one that was sent, for any response", arguments: forms)
    func aChangeSetThatWasSentNeverChanges(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        _ = try take(device)
        try device.write { _, ext in try ext.tables.queue.clearAllInFlight() }
        try device.relaunch()
        try device.edit("1") { $0.title = "c" }
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        #expect(try device.sentTitles() == ["b", "c"])
    }

    @Test("17. a record that was never sent and is deleted leaves nothing", arguments: forms)
    func aRecordThatWasNeverSent(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "b"), "2")
        try device.remove("2")
        #expect(try device.queue().isEmpty)
        #expect(try device.read { _, ext in try ext.numberOfPendingChangeSets() } == 0)
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests)
    }

    @Test("17. one that may have arrived is deleted there too", arguments: forms)
    func aRecordThatMayHaveArrived(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "b"), "2")
        device.lose(.loseReply)
        device.upload()
        #expect(device.server("2")?["title"] == "b")
        cloud.networkFault = nil
        try device.relaunch()
        try device.remove("2")
        #expect(try device.queue() == ["S2{\(full)=b}", "D2"])
        #expect(device.upload().state == .idle)
        #expect(device.server("2") == nil)
    }

    @Test("19. a change and a deletion are the deletion", arguments: forms)
    func aChangeAndADeletion(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        #expect(try device.queue() == ["D1"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("21. nothing is folded over a deletion and a later recreation", arguments: forms)
    func aDeletionAndWhatIsMadeAgain(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.remove("1")
        try device.set(Todo(title: "b"), "1")
        try device.edit("1") { $0.title = "c" }
        #expect(try device.queue() == ["D1", "S1{\(full)=c}"])
        #expect(try device.tag("1") == nil)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["note"] == nil, "it is another record")
    }

    @Test("21. again and again", arguments: forms)
    func aDeletionAgainAndAgain(_ form: QueueStorage) throws {
        let device = try device(form)
        for title in ["b", "c"] {
            try device.remove("1")
            try device.set(Todo(title: title), "1")
        }
        try device.set(Todo(title: "x"), "2")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("2")?["title"] == "x")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test(
        "20. deleted and made again in one transaction, after a change: a save on the old tag",
        arguments: forms)
    func deletedAndMadeAgainInOneTransaction(_ form: QueueStorage) throws {
        let device = try device(form)
        let tag = try device.tag("1")
        try device.edit("1") { $0.note = "m" }
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{done=0,note=nil,priority=0,title=b}"])
        #expect(try device.tag("1") == tag)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == nil)
    }

    @Test("a quarantined change stays unchanged, and is sent with its record's next change", arguments: forms)
    func quarantinedChangesStay(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.write { _, ext in
            let row = try #require(try ext.tables.records.liveRecord(device.id("1"), DatabaseKey(nil)))
            try ext.tables.queue.quarantineChanges(of: row.id, code: 1)
        }
        try device.set(Todo(title: "x"), "2")
        #expect(try device.queue() == ["S1{title=b}", "S2{\(full)=x}"])
        #expect(try device.read { _, ext in try ext.numberOfQuarantinedChanges() } == 1)
        try device.edit("1") { $0.isDone = true }
        #expect(try device.queue() == ["S2{\(full)=x} S1{done=1,title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test(
        "129. a record recreated after a remote deletion and deleted unsent sends nothing; another device's stays",
        arguments: forms)
    func madeAgainAfterARemoteDeletionAndDeletedUnsent(_ form: QueueStorage) throws {
        let device = try device(form)
        device.deleteOnServer("1")
        try device.write { transaction, ext in
            for row in try ext.removeRemotelyDeletedRecord(device.id("1"), databaseIdentifier: nil) {
                try transaction.removeObject(forKey: row.key, inCollection: row.collection)
            }
        }
        let record = CKRecord(recordType: "todo", recordID: device.id("1"))
        record["title"] = "of another device"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
        try device.set(Todo(title: "b"), "1")
        try device.edit("1") { $0.title = "c" }
        try device.remove("1")
        #expect(try device.queue().isEmpty)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "of another device")
    }

    @Test("a rolled back commit takes its folding back", arguments: forms)
    func aRolledBackCommit(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.write { transaction, _ in
            try transaction.edit("1") { $0.title = "c" }
            transaction.rollback()
        }
        #expect(try device.queue() == ["S1{title=b}"])
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }
}

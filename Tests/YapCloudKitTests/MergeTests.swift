import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

/// A remote version, and what waits here.
@Suite struct MergeTests {
    let cloud = TestCloud()

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        let device = try HandledDevice(cloud, suspended: true, storage: form)
        try device.uploaded(Todo(title: "a"), "1")
        return device
    }

    @Test(
        "62, 63. a remote change with nothing waiting is stored and not queued; the next save is on its tag",
        arguments: forms)
    func aRemoteChangeWithNothingWaiting(_ form: QueueStorage) throws {
        let device = try device(form)
        let remote = device.changeOnServer("1") { $0["title"] = "z" }
        try device.merge(remote)
        let merged = try #require(device.seen.merged.first)
        #expect(device.seen.merged.count == 1)
        #expect(merged.pending == nil)
        #expect(merged.originals.isEmpty)
        #expect(try device.todo("1")?.title == "z")
        #expect(try device.queue().isEmpty)
        try device.relaunch()
        #expect(try device.tag("1") == remote?.recordChangeTag)
        try device.edit("1") { $0.isDone = true }
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests + 1)
    }

    @Test("64. changes of different keys both stand", arguments: forms)
    func changesOfDifferentKeysBothStand(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.isDone = true }
        let remote = device.changeOnServer("1") { $0["title"] = "z" }
        try device.merge(remote)
        #expect(try device.todo("1") == Todo(title: "z", isDone: true))
        #expect(try device.queue() == ["S1{done=1}"])
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.recordsToSave.first?.recordChangeTag == remote?.recordChangeTag)
        #expect(changeSet.originalValues(for: device.id("1")).keys.sorted() == ["done"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "z")
        #expect(device.server("1")?["done"] == true)
    }

    @Test("65. of two changes of one key the remote one wins, and nothing is sent", arguments: forms)
    func theRemoteChangeWins(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.merge(device.changeOnServer("1") { $0["title"] = "z" })
        #expect(try device.todo("1")?.title == "z")
        #expect(try device.queue().isEmpty)
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests)
    }

    @Test("66. a key that only this device changed is kept", arguments: forms)
    func aKeyThatOnlyThisDeviceChanged(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        #expect(try device.todo("1") == Todo(title: "b", priority: 3))
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test(
        "67. the client wins if it says so; a second remote change is judged against the first",
        arguments: forms)
    func theClientWinsIfItSaysSo(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.mergeRule = .clientWins }
        try device.edit("1") { $0.title = "b" }
        try device.merge(device.changeOnServer("1") { $0["title"] = "z" })
        #expect(try device.queue() == ["S1{title=b}"])
        var changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.originalValues(for: device.id("1"))["title"] as? String == "z")
        device.behave { $0.mergeRule = .recommended }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 9 })
        changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("68. of several queued values the newest stays", arguments: forms)
    func ofSeveralQueuedValuesTheNewestStays(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") {
            $0.title = "c"
            $0.isDone = true
        }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        let merged = try #require(device.seen.merged.first)
        #expect(merged.pending?["title"] == "c")
        #expect(merged.pending?.changedKeys() == ["done", "title"])
        #expect(merged.originals == ["done", "title"])
        #expect(try device.queue() == ["S1{done=1,title=c}"])
    }

    @Test("69. a value that the block adds is a change of its own at the end", arguments: forms)
    func aValueThatTheBlockAdds(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.addsComputedNote = true }
        try device.edit("1") { $0.isDone = true }
        try device.merge(device.changeOnServer("1") { $0["title"] = "z" })
        #expect(try device.queue() == ["S1{done=1}", "S1{note=computed}"])
    }

    @Test("70. fields that the block doesn't copy are dropped, and empty change-sets too", arguments: forms)
    func whatTheBlockDoesNotCopyIsDropped(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.mergeRule = .copyNothing }
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.isDone = true }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        #expect(try device.queue().isEmpty)
    }

    @Test("71. a change of the same transaction counts as waiting", arguments: forms)
    func aChangeOfTheSameTransactionCounts(_ form: QueueStorage) throws {
        let device = try device(form)
        let remote = try #require(device.changeOnServer("1") { $0["title"] = "z" })
        try device.write { transaction, ext in
            try transaction.edit("1") { $0.priority = 8 }
            try ext.mergeRecord(remote, databaseIdentifier: nil)
        }
        #expect(device.seen.merged.first?.pending?["priority"] == 8)
        #expect(try device.queue() == ["S1{priority=8}"])
    }

    @Test("72. two merges in one transaction end with the newest tag", arguments: forms)
    func twoMergesInOneTransaction(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.isDone = true }
        let first = try #require(device.changeOnServer("1") { $0["title"] = "y" })
        let second = try #require(device.changeOnServer("1") { $0["title"] = "z" })
        try device.write { _, ext in
            try ext.mergeRecord(first, databaseIdentifier: nil)
            try ext.mergeRecord(second, databaseIdentifier: nil)
        }
        #expect(try device.tag("1") == second.recordChangeTag)
        #expect(try device.todo("1")?.title == "z")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["done"] == true)
    }

    @Test(
        "73, 77. a record deleted here with pending changes: no row returns, and the queue drains",
        arguments: forms)
    func aDeletedRecordWithChangesWaiting(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        #expect(device.seen.merged.map(\.key) == [nil])
        #expect(try device.todo("1") == nil)
        #expect(device.upload().state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.server("1") == nil)
    }

    @Test("74. merge ignores a record that is unknown here", arguments: forms)
    func anUnknownRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        let record = CKRecord(recordType: "todo", recordID: device.id("9"))
        try device.merge(record)
        #expect(device.seen.merged.isEmpty)
    }

    @Test("75. two rows of one record are both merged", arguments: forms)
    func twoRowsOfOneRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["2": "1"] }
        try device.set(Todo(title: "a"), "2")
        device.upload()
        device.cloudKit.suspend()
        try device.merge(device.changeOnServer("1") { $0["title"] = "z" })
        #expect(device.seen.merged.compactMap(\.key).suffix(2) == ["1", "2"])
        #expect(try device.todo("2")?.title == "z")
    }

    @Test(
        "76, 91. changes during a save in flight are sent with the next, on the new tag", arguments: forms)
    func whatChangesWhileASaveIsInFlight(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        var batch = SyncBatch()
        try device.read { _, ext in batch = try ext.batches.batch(DatabaseKey(nil), itemsMax: 10) }
        try device.edit("1") { $0.title = "c" }
        #expect(batch.saves.first?["title"] == "b")
        let saved = try #require(device.changeOnServer("1") { $0["title"] = "b" })
        try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = [(batch.items[0], saved)]
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
        #expect(try device.queue() == ["S1{title=c}"])
        #expect(try device.tag("1") == saved.recordChangeTag)
    }

    @Test(
        "76. a merge while a save is in flight: the answer doesn't take the newer tag back", arguments: forms)
    func aMergeWhileASaveIsInFlight(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        var batch = SyncBatch()
        try device.read { _, ext in batch = try ext.batches.batch(DatabaseKey(nil), itemsMax: 10) }
        let saved = try #require(device.changeOnServer("1") { $0["title"] = "b" })
        let newer = try #require(device.changeOnServer("1") { $0["priority"] = 5 })
        try device.merge(newer)
        try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = [(batch.items[0], saved)]
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
        #expect(try device.tag("1") == newer.recordChangeTag)
        #expect(try device.queue().isEmpty)
    }

    @Test("78. a field that another device removed is removed here", arguments: forms)
    func aFieldThatAnotherDeviceRemoved(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.note = "n" }
        device.upload()
        device.cloudKit.suspend()
        try device.merge(device.changeOnServer("1") { $0.setObject(nil, forKey: "note") })
        #expect(try device.todo("1")?.note == nil)
    }

    @Test(
        "79, 80, 83. a remote deletion takes the queue's entries with it and names all rows", arguments: forms
    )
    func aRemoteDeletionTakesTheQueuesEntries(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["2": "1"] }
        try device.set(Todo(title: "a"), "2")
        device.upload()
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.edit("2") { $0.isDone = true }
        device.deleteOnServer("1")
        try device.write { transaction, ext in
            let keys = try ext.removeRemotelyDeletedRecord(device.id("1"), databaseIdentifier: nil)
            #expect(keys.map(\.key) == ["1", "2"])
            try transaction.removeObjects(forKeys: keys.map(\.key), inCollection: "todos")
        }
        #expect(try device.queue().isEmpty)
        let requests = device.modifyRequests
        #expect(device.upload().state == .idle)
        #expect(device.modifyRequests == requests)
    }

    @Test("81, 82. a remote deletion of a record deleted here too leaves nothing pending", arguments: forms)
    func aRemoteDeletionOfWhatIsDeletedHere(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        device.deleteOnServer("1")
        let keys = try device.write { _, ext in
            try ext.removeRemotelyDeletedRecord(device.id("1"), databaseIdentifier: nil)
        }
        #expect(keys.isEmpty)
        #expect(try device.queue().isEmpty)
        #expect(device.upload().state == .idle)
    }

    @Test("83. with two rows the queue is purged when both were detached, and not before", arguments: forms)
    func bothRowsHaveToBeDetached(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["2": "1"] }
        try device.set(Todo(title: "a"), "2")
        device.upload()
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        device.deleteOnServer("1")
        func detach(_ key: String) throws {
            try device.write { transaction, ext in
                try ext.detachRecord(
                    forKey: key, inCollection: "todos", wasRemoteDeletion: true, shouldUploadDeletion: false)
                try transaction.removeObject(forKey: key, inCollection: "todos")
            }
        }
        try device.relaunch()
        try detach("1")
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=b}"])
        try detach("2")
        #expect(try device.queue().isEmpty)
        #expect(device.upload().state == .idle)
    }

    @Test(
        "a merge can be forced with the stored tag: newer values here stay", arguments: forms)
    func aMergeCanBeForced(_ form: QueueStorage) throws {
        let device = try device(form)
        let same = try #require(device.server("1"))
        try device.edit("1") { $0.title = "b" }
        // Deleted and made again in one transaction has values for all keys.
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "c"), forKey: "1", inCollection: "todos")
        }
        try device.merge(same)
        #expect(device.seen.merged.count == 1)
        #expect(try device.todo("1")?.title == "c")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
    }

    @Test(
        "for a known version, its own values are the missing originals", arguments: forms
    )
    func missingOriginals(_ form: QueueStorage) throws {
        let device = try device(form)
        let same = try #require(device.server("1"))
        try device.write { _, ext in
            let record = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            record["title"] = "by hand"
            try ext.saveRecord(record, databaseIdentifier: nil)
        }
        try device.merge(same)
        #expect(device.seen.merged.last?.originalTitle == "a")
    }

    @Test("73. values added by a merge to a record that is deleted next don't restore it", arguments: forms)
    func whatAMergeAddsToADeletedRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        device.behave { $0.addsComputedNote = true }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        #expect(try device.queue() == ["D1"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("84. a remote deletion and a new insert in one transaction: a save without tag", arguments: forms)
    func aRemoteDeletionAndANewInsert(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.edit("1") { $0.title = "b" }
        device.deleteOnServer("1")
        try device.write { transaction, ext in
            try ext.detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: true, shouldUploadDeletion: false)
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "new"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{done=0,priority=0,title=new}"])
        #expect(try device.tag("1") == nil)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "new")
    }

    @Test("87. a token is stored with the data or not at all", arguments: forms)
    func aTokenIsStoredWithTheData(_ form: QueueStorage) throws {
        let device = try device(form)
        struct Crash: Error {}
        let token = CKServerChangeToken(token: "t")
        func stored() throws -> CKServerChangeToken? {
            try device.read { _, ext in try ext.token(forZone: HandledDevice.zoneID, databaseIdentifier: nil)
            }
        }
        #expect(throws: Crash.self) {
            try device.write { transaction, ext in
                try transaction.setObject(Todo(title: "page"), forKey: "5", inCollection: "todos")
                try ext.setToken(token, forZone: HandledDevice.zoneID, databaseIdentifier: nil)
                throw Crash()
            }
        }
        #expect(try stored() == nil)
        try device.write { _, ext in
            try ext.setToken(token, forZone: HandledDevice.zoneID, databaseIdentifier: nil)
        }
        try device.relaunch()
        #expect(try stored() == token)
    }
}

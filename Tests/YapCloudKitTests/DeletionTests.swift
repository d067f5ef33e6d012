import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

/// Deleting, and making again under the same name.
@Suite struct DeletionTests {
    let cloud = TestCloud()
    private let full = "done=0,priority=0,title"

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        try HandledDevice(cloud, suspended: true, storage: form)
    }

    @Test("16. a deleted row's record is deleted on the server", arguments: forms)
    func aDeletedRowIsDeletedOnTheServer(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.remove("1")
        #expect(try device.queue() == ["D1"])
        #expect(try !device.contains("1"))
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("17. an insert and a deletion in two commits are sent in this order", arguments: forms)
    func insertedAndDeletedInTwoCommits(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a"), "1")
        try device.remove("1")
        #expect(try device.queue() == ["S1{\(full)=a}", "D1"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("18. inserted and deleted in one transaction queues nothing", arguments: forms)
    func insertedAndDeletedInOneTransaction(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.write { transaction, _ in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.removeObject(forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue().isEmpty)
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
    }

    @Test("19, 32. a change before a deletion keeps its values across a relaunch", arguments: forms)
    func aChangeBeforeADeletionKeepsItsValues(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=b}", "D1"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("20. deleted and inserted again in one transaction is a save on the old tag", arguments: forms)
    func deletedAndInsertedInOneTransaction(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        let tag = try device.tag("1")
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{\(full)=b}"])
        #expect(try device.tag("1") == tag)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("20. fields of the old record that the new one lacks are removed on the server", arguments: forms)
    func whatTheOldOneHadIsEnded(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{done=0,note=nil,priority=0,title=b}"])
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.originalValues(for: device.id("1"))["title"] as? String == "a")
        try device.relaunch()
        #expect(try device.queue() == ["S1{done=0,note=nil,priority=0,title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?.allKeys().contains("note") == false)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("20. also where many rows are removed at once", arguments: forms)
    func whatManyOldOnesHadIsEnded(_ form: QueueStorage) throws {
        let device = try device(form)
        let count = ChangeRecorder.formerObjectsMax + 2
        let keys = (0..<count).map(String.init)
        try device.write { transaction, _ in
            for key in keys {
                try transaction.setObject(Todo(title: "a", note: "n"), forKey: key, inCollection: "todos")
            }
        }
        device.upload()
        device.cloudKit.suspend()
        try device.write { transaction, _ in
            try transaction.removeAllObjects(inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "0", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: keys[count - 1], inCollection: "todos")
        }
        let queue = try #require(try device.queue().first)
        #expect(queue.hasPrefix("S0{done=0,note=nil,priority=0,title=b} S\(count - 1){done=0,note=nil,"))
    }

    @Test(
        "20. a field removed by an unsent edit stays removed when its row is recreated without it",
        arguments: [true, false])
    func anUnsentEditBeforeTheRowIsMadeAgain(folds: Bool) throws {
        let device = try HandledDevice(TestCloud(), storage: .keysOnly, folds: folds)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        device.cloudKit.suspend()
        func edit(_ transaction: YapDatabaseReadWriteTransaction) throws {
            try transaction.edit("1") {
                $0.note = nil
                $0.title = "b"
            }
        }
        func makeAgain(_ transaction: YapDatabaseReadWriteTransaction) throws {
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "c"), forKey: "1", inCollection: "todos")
        }
        if folds {
            try device.write { transaction, _ in try edit(transaction) }
            try device.write { transaction, _ in try makeAgain(transaction) }
        } else {
            try device.write { transaction, _ in
                try edit(transaction)
                try makeAgain(transaction)
            }
        }
        let changeSet = try device.read { _, ext in try ext.pendingChangeSets().last }
        let originals = changeSet?.originalValues(for: device.id("1"))
        #expect(originals?["title"] as? String == "a", "what the server has, not what was never sent")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c" && device.server("1")?["note"] as? String == nil)
    }

    @Test("20. also fields removed by a quarantined change", arguments: forms)
    func whatARefusedChangeHadEnded(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        try device.edit("1") { $0.note = nil }
        try device.write { _, ext in
            let row = try #require(try ext.tables.records.liveRecord(device.id("1"), DatabaseKey(nil)))
            try ext.tables.queue.quarantineChanges(of: row.id, code: 1)
        }
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{done=0,note=nil,priority=0,title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?.allKeys().contains("note") == false)
    }

    @Test(
        "4. a row created and changed in one transaction has no original: the server never had it",
        arguments: forms)
    func whatATransactionMakesHasNoOriginal(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.write { transaction, _ in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.edit("1") { $0.title = "b" }
        }
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.originalValues(for: device.id("1")).isEmpty)
    }

    @Test(
        "21. deleted and inserted again in two commits: the new one has no tag, and is sent second",
        arguments: forms)
    func deletedAndInsertedInTwoCommits(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.remove("1")
        try device.set(Todo(title: "b"), "1")
        #expect(try device.queue() == ["D1", "S1{\(full)=b}"])
        #expect(try device.tag("1") == nil)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test(
        "22. a tag never leaks over a deletion, though an older save ends after it was queued",
        arguments: forms)
    func aTagNeverLeaksOverADeletion(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        // The save is sent; while its answer is on the way the row is deleted and made again.
        var batch = SyncBatch()
        try device.read { _, ext in batch = try ext.batches.batch(DatabaseKey(nil), itemsMax: 10) }
        try device.remove("1")
        try device.set(Todo(title: "c"), "1")
        let saved = try #require(device.changeOnServer("1") { $0["title"] = "b" })
        try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = [(batch.items[0], saved)]
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
        #expect(try device.tag("1") == nil)
        #expect(try device.queue() == ["D1", "S1{\(full)=c}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
    }

    @Test("23. deleted while its save is in flight: nothing of it returns", arguments: forms)
    func deletedWhileItsSaveIsInFlight(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        var batch = SyncBatch()
        try device.read { _, ext in batch = try ext.batches.batch(DatabaseKey(nil), itemsMax: 10) }
        try device.remove("1")
        let other = device.database.newConnection()
        #expect(
            try other.blocking.read { transaction in
                try !transaction.ext("ck", as: YapDatabaseCloudKit.self)
                    .containsRecordID(device.id("1"), databaseIdentifier: nil)
            })
        let saved = try #require(device.changeOnServer("1") { $0["title"] = "b" })
        try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = [(batch.items[0], saved)]
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
        #expect(try device.queue() == ["D1"])
        #expect(
            try other.blocking.read { transaction in
                let ext = try transaction.ext("ck", as: YapDatabaseCloudKit.self)
                let state = try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
                return try !ext.containsRecordID(device.id("1"), databaseIdentifier: nil)
                    && state.recordChangeTag == nil
            })
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("24. of removed rows only those with a record are deleted", arguments: forms)
    func onlyRowsWithARecordAreDeleted(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.skippedKeys = ["2"] }
        try device.set(Todo(title: "b"), "2")
        try device.write { transaction, _ in
            try transaction.removeObjects(forKeys: ["1", "2"], inCollection: "todos")
        }
        #expect(try device.queue() == ["D1"])
    }

    @Test("25. all rows of a collection are deleted; all of all collections only here", arguments: forms)
    func removingAll(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.uploaded(Todo(title: "b"), "2")
        try device.write { transaction, _ in try transaction.removeAllObjects(inCollection: "todos") }
        #expect(try device.queue() == ["D1 D2"])
        #expect(device.upload().state == .idle)

        try device.uploaded(Todo(title: "c"), "3")
        device.cloudKit.suspend()
        try device.edit("3") { $0.title = "d" }
        try device.write { transaction, _ in try transaction.removeAllObjectsInAllCollections() }
        #expect(try !device.contains("3"))
        try device.relaunch()
        #expect(try device.queue() == ["S3{title=d}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("3")?["title"] == "d")
    }

    @Test(
        "25. the effect of removing all rows in the cloud is chosen explicitly", arguments: forms,
        YapDatabaseCloudKit.Removal.allCases)
    func removingAllSaysWhatItMeans(_ form: QueueStorage, _ removal: YapDatabaseCloudKit.Removal) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.uploaded(Todo(title: "b"), "2")
        try device.set(Todo(title: "c"), "3")
        try device.edit("1") { $0.title = "d" }
        try device.relaunch()
        try device.write { _, ext in try ext.removeAllObjectsInAllCollections(inCloud: removal) }
        #expect(try device.todo("1") == nil)
        for key in ["1", "2", "3"] { #expect(try !device.contains(key)) }
        try device.relaunch()
        let before = ["S3{\(full)=c}", "S1{title=d}"]
        #expect(try device.queue() == before + (removal == .delete ? ["D1 D2 D3"] : []))
        #expect(device.upload().state == .idle)
        #expect((device.server("2") == nil) == (removal == .delete))
        #expect((device.server("3") == nil) == (removal == .delete))
        if removal == .detach { #expect(device.server("1")?["title"] == "d") }
    }

    @Test("26. a rowid that is used again doesn't inherit the record", arguments: forms)
    func aRowIDUsedAgainDoesNotInheritTheRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "2", inCollection: "todos")
        }
        #expect(try device.queue() == ["S2{\(full)=b} D1"])
        #expect(
            try device.read { _, ext in
                try ext.collectionKeys(forRecordID: device.id("2"), databaseIdentifier: nil)
            } == [YapCollectionKey(collection: "todos", key: "2")])
        #expect(try !device.contains("1"))
    }
}

import CloudKit
import CloudKitTesting
import SQLite
import Testing
import Yap

@testable import YapCloudKit

typealias QueueStorage = YapDatabaseCloudKit.QueueStorage

/// Both forms of the queue: the names of changed fields, which the handler is asked for after a relaunch, and values.
let forms = QueueStorage.allCases

/// What the queue holds survives a relaunch, in both forms.
@Suite struct RelaunchTests {
    let cloud = TestCloud()

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        try HandledDevice(cloud, suspended: true, storage: form)
    }

    /// What a relaunched device's handler is asked for when everything that waits is listed.
    private func restored(_ device: HandledDevice) throws -> [String] {
        device.behave { $0.restored = [] }
        _ = try device.queue()
        let asked = device.seen.restored
        _ = try device.queue()
        #expect(device.seen.restored == asked, "nothing is asked twice in a run")
        return asked
    }

    /// Does what an answer of the server does for the oldest changes.
    private func complete(_ device: HandledDevice, _ count: Int) throws {
        for _ in 0..<count {
            try device.write { _, ext in
                let batch = try ext.takeBatch(DatabaseKey(nil), itemsMax: 1, bytesMax: .max)
                var completion = SyncCompletion()
                completion.saved = [(batch.items[0], batch.saves[0])]
                try ext.complete(completion, DatabaseKey(nil), merge: nil)
            }
        }
    }

    // MARK: Restoring

    @Test(
        "27, 111. a relaunch finds the queue unchanged; the handler is called once, for exactly the changed keys",
        arguments: forms)
    func aRelaunchFindsTheQueueAsItWas(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a", priority: 2), "1")
        let before = try device.read { _, ext in try ext.pendingChangeSets() }
        let queue = try device.queue()
        #expect(device.seen.restored.isEmpty, "what was just said is not asked again")
        device.behave {
            $0.handled = []
            $0.restored = []
        }
        try device.relaunch()
        #expect(device.seen.restored.isEmpty, "nothing is asked before somebody needs it")
        #expect(try restored(device) == (form == .values ? [] : ["1: done,priority,title"]))
        #expect(device.seen.handled.isEmpty)
        let after = try device.read { _, ext in try ext.pendingChangeSets() }
        #expect(after.map(\.uuid) == before.map(\.uuid))
        #expect(try device.queue() == queue)
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["priority"] == 2)
    }

    @Test("27. while keys are requested, the record has its tag and no values")
    func theRecordThatIsAskedForHasNoValues() throws {
        let device = try device(.keysOnly)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let tag = try device.tag("1")
        try device.relaunch()
        _ = try device.queue()
        let base = try #require(device.seen.restoredBases.first)
        #expect(base.recordChangeTag == tag)
        #expect(base.allKeys().isEmpty)
        #expect(base.changedKeys().isEmpty)
    }

    @Test("28. the handler gets the keys of each of two commits separately", arguments: forms)
    func differentKeysInTwoCommits(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.isDone = true }
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: title", "1: done"]))
        #expect(try device.queue() == ["S1{title=b}", "S1{done=1}"])
    }

    @Test("29. an intermediate value is stored, and the handler isn't called for it", arguments: forms)
    func theSameKeyTwice(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.title = "c" }
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: title"]))
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        let sent = try device.sentTitles()
        #expect(sent == ["b", "c"])
    }

    @Test("29. an intermediate value survives, though its commit was in an earlier run", arguments: forms)
    func theSameKeyTwiceInTwoRuns(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.relaunch()
        device.behave { $0.restored = [] }
        try device.edit("1") { $0.title = "c" }
        #expect(device.seen.restored == (form == .values ? [] : ["1: title"]), "asked before the row changed")
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: title"]))
        #expect(try device.sentTitles() == ["b", "c"])
    }

    @Test("30. of three commits only the first is stored with its value", arguments: forms)
    func threeCommits(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.isDone = true }
        try device.edit("1") { $0.title = "c" }
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: done", "1: title"]))
        #expect(try device.queue() == ["S1{title=b}", "S1{done=1}", "S1{title=c}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["done"] == true)
    }

    @Test("31. a value that was removed is first removed on the server, then set", arguments: forms)
    func aRemovedValue(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a", note: "x"), "1")
        try device.edit("1") { $0.note = nil }
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: note"]))
        #expect(try device.queue() == ["S1{note=nil}"])
        try device.edit("1") { $0.note = "y" }
        try device.relaunch()
        #expect(try device.queue() == ["S1{note=nil}", "S1{note=y}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == "y")
    }

    @Test("32. a change before a deletion has its values without the object", arguments: forms)
    func aChangeBeforeADeletion(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.relaunch()
        try device.remove("1")
        try device.relaunch()
        #expect(try restored(device) == [])
        #expect(try device.queue() == ["S1{title=b}", "D1"])
        #expect(try device.sentTitles() == ["b"])
        #expect(device.server("1") == nil)
    }

    @Test("33. a change before a detaching has its values without the object", arguments: forms)
    func aChangeBeforeADetaching(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.relaunch()
        try device.write { _, ext in
            try ext.detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: false)
        }
        device.behave { $0.omitsAll = true }
        try device.remove("1")
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("34. the original values survive, the earliest of each", arguments: forms)
    func theOriginalsSurvive(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.title = "c" }
        try device.relaunch()
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        let merged = try #require(device.seen.merged.last)
        #expect(merged.originalTitle == "a")
        #expect(merged.originals == ["title"])
        #expect(merged.pending?["title"] == "c")
        #expect(try device.queue() == ["S1{title=c}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["priority"] == 3)
    }

    @Test("35. fifty commits are in order after a relaunch, though the first ten were sent", arguments: forms)
    func fiftyCommits(_ form: QueueStorage) throws {
        let device = try device(form)
        for number in 0..<50 { try device.set(Todo(title: "t\(number)"), "\(number)") }
        try complete(device, 10)
        let before = try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) }
        #expect(before.count == 40)
        try device.relaunch()
        #expect(try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) } == before)
        let queue = try device.queue()
        #expect(queue == (10..<50).map { "S\($0){done=0,priority=0,title=t\($0)}" })
    }

    @Test(
        "36. a damaged entry of the queue is quarantined and reported, and the rest is sent", arguments: forms
    )
    func aDamagedEntryIsSeen(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a"), "1")
        try device.set(Todo(title: "b"), "2")
        try device.write { transaction, ext in
            try transaction.sqlite.execute(
                "UPDATE \(ext.tables.table("change")) SET originals = x'FF' WHERE id = 1")
        }
        try device.relaunch()
        #expect(device.upload().needs([.damaged(recordName: "1")]))
        #expect(device.server("2")?["title"] == "b")
        #expect(device.server("1") == nil)
        let quarantined = try device.read { _, ext in try ext.quarantinedChanges() }
        #expect(quarantined.map(\.recordID) == [device.id("1")])
        #expect(quarantined.map(\.reason) == [.damaged(recordName: "1")])
        #expect(try device.todo("1")?.title == "a")
        // The object is whole: given up in the queue, it can be queued again.
        let isGivenUp = try device.write { _, ext in
            try ext.discardQuarantinedChanges(forRecordID: device.id("1"), databaseIdentifier: nil)
        }
        #expect(isGivenUp)
        #expect(device.upload().state == .idle)
    }

    @Test("36. a dangling row of the tables is quarantined, and the rest is sent", arguments: forms)
    func aBrokenChain(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a"), "1")
        try device.set(Todo(title: "b"), "2")
        try device.write { transaction, ext in
            try transaction.sqlite.execute(
                "UPDATE \(ext.tables.table("change")) SET record = 99 WHERE id = 1")
        }
        try device.relaunch()
        guard device.upload().state == .needsAttention else {
            Issue.record("\(device.cloudKit.status)")
            return
        }
        #expect(device.server("2")?["title"] == "b")
    }

    @Test("37. a key that the handler doesn't return is quarantined, and sent when it is set again")
    func aKeyThatIsNotGivenBack() throws {
        let device = try device(.keysOnly)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") {
            $0.title = "b"
            $0.note = "n"
        }
        try device.set(Todo(title: "c"), "2")
        device.behave { $0.forgottenKeys = ["note"] }
        try device.relaunch()
        #expect(
            device.upload().needs([.unrestorable(recordName: "1", keys: ["note", "title"])]))
        #expect(device.server("1")?["title"] == "a", "nothing is sent in halves")
        #expect(device.server("2")?["title"] == "c", "the rest of the queue goes on")
        let quarantined = try device.read { _, ext in try ext.quarantinedChanges() }
        #expect(quarantined.map(\.keys) == [["note", "title"]])
        #expect(quarantined.map(\.isDeletion) == [false])
        try device.edit("1") { $0.note = "m" }
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["note"] == "m")
    }

    @Test("37. a handler that later excludes the row can't return its values; a retry calls it again")
    func aHandlerThatLeavesTheRowOut() throws {
        let device = try device(.keysOnly)
        try device.set(Todo(title: "a"), "1")
        device.behave { $0.omitsAll = true }
        try device.relaunch()
        let keys = ["done", "priority", "title"]
        #expect(device.upload().needs([.unrestorable(recordName: "1", keys: keys)]))
        #expect(device.modifyRequests == 0, "no empty record is sent")
        device.behave { $0.omitsAll = false }
        device.cloudKit.retry()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("147. values that one version of the handler can't return are sent with a version that can")
    func anotherVersionGivesBack() throws {
        let device = try deviceWithForgottenNote()
        device.behave {
            $0.unknownKeys = []
            $0.versionTag = "2"
        }
        try device.relaunch()
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == "n")
    }

    @Test("147. values returned to a merge are sent")
    func aMergeGivesBack() throws {
        let device = try deviceWithForgottenNote()
        device.behave { $0.unknownKeys = [] }
        try device.merge(device.changeOnServer("1") { $0["priority"] = 7 })
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == "n")
        #expect(try device.todo("1")?.priority == 7)
    }

    @Test("148. a merge by a handler without a field keeps the field's original")
    func aMergeWithoutTheField() throws {
        let device = try deviceWithForgottenNote()
        try device.merge(device.changeOnServer("1") { $0["priority"] = 7 })
        device.behave { $0.unknownKeys = [] }
        // The server's note is the one that this device changed: no change of another device.
        try device.merge(device.changeOnServer("1") { $0["priority"] = 8 })
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == "n")
        #expect(try device.todo("1")?.note == "n")
    }

    @Test(
        "149. pending values of a field that an older version didn't sync can be restored to the row"
    )
    func aRowThatAnOlderVersionChanged() throws {
        let device = try device(.values)
        try device.set(Todo(title: "a", note: "n"), "1")
        device.behave { $0.unknownKeys = ["note"] }
        try device.relaunch()
        device.cloudKit.suspend()
        try device.edit("1") { $0.note = "kept to itself" }
        device.behave { $0.unknownKeys = [] }
        try device.write { transaction, ext in
            for record in try ext.pendingChangeSets().flatMap(\.recordsToSave) {
                var todo = try transaction.object(Todo.self, forKey: "1", inCollection: "todos")
                #expect(todo?.note == "kept to itself")
                todo?.note = record["note"]
                if let todo { try transaction.setObject(todo, forKey: "1", inCollection: "todos") }
            }
        }
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["note"] == "n")
        #expect(try device.todo("1")?.note == "n")
    }

    /// A device on which the note of a todo was changed from "m" to "n", and whose handler doesn't know notes any more.
    private func deviceWithForgottenNote() throws -> HandledDevice {
        let device = try device(.keysOnly)
        try device.uploaded(Todo(title: "a", note: "m"), "1")
        try device.edit("1") { $0.note = "n" }
        device.behave { $0.unknownKeys = ["note"] }
        try device.relaunch()
        #expect(device.upload().needs([.unrestorable(recordName: "1", keys: ["note"])]))
        return device
    }

    @Test(
        "37. a row deleted while the extension wasn't registered: its deletion is sent, never an empty record"
    )
    func aRowThatVanished() throws {
        let device = try device(.keysOnly)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let path = device.path
        try device.database.blocking.close()
        do {
            let plain = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            try plain.newConnection().blocking.readWrite { transaction in
                try transaction.removeObject(forKey: "1", inCollection: "todos")
            }
            try plain.blocking.close()
        }
        try device.relaunch()
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
    }

    @Test("37. an object that can't be read any more doesn't stop the queue")
    func anObjectThatCannotBeRead() throws {
        let device = try device(.keysOnly)
        try device.set(Todo(title: "a"), "1")
        try device.set(Todo(title: "b"), "2")
        try device.database.blocking.close()
        let sqlite = try Connection(path: device.path)
        try sqlite.execute("UPDATE database2 SET data = x'FF' WHERE key = '1'")
        try sqlite.close()
        try device.relaunch()
        guard device.upload().state == .needsAttention else {
            Issue.record("\(device.cloudKit.status)")
            return
        }
        #expect(device.server("2")?["title"] == "b")
        #expect(device.server("1") == nil)
    }

    @Test("38. one of two rows of a record is deleted: its changes are still sent", arguments: forms)
    func twoOwnersOneRemoved(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["1": "R", "2": "R"] }
        try device.write { transaction, _ in
            for key in ["1", "2"] {
                try transaction.setObject(Todo(title: "a"), forKey: key, inCollection: "todos")
            }
        }
        device.upload()
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.edit("2") { $0.priority = 4 }
        try device.relaunch()
        try device.remove("1")
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["2: priority"]))
        #expect(try device.queue() == ["SR{title=b}", "SR{priority=4}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("R")?["title"] == "b")
    }

    @Test("39. values that are in no object are uploaded after a relaunch", arguments: forms)
    func valuesThatAreInNoObject(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, ext in
            let record = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            record["migrated"] = "yes"
            #expect(try ext.saveRecord(record, databaseIdentifier: nil))
            // A change of the row in the same transaction leaves it what it is: no value of the row.
            try transaction.edit("1") { $0.title = "b" }
            let other = CKRecord(recordType: "todo", recordID: device.id("2"))
            other["attached"] = "too"
            try ext.attachRecord(
                other, databaseIdentifier: nil, forKey: "2", inCollection: "todos", shouldUploadRecord: true)
            try transaction.setObject(Todo(title: "c"), forKey: "2", inCollection: "todos")
        }
        try device.relaunch()
        #expect(try restored(device) == (form == .values ? [] : ["1: title"]))
        #expect(try device.queue() == ["S1{migrated=yes,title=b} S2{attached=too}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["migrated"] == "yes")
        #expect(device.server("2")?["attached"] == "too")
    }

    @Test(
        "40, 41, 42, B7. a lost answer ends with one version on the server and an empty queue",
        arguments: forms, [true, false])
    func aLostAnswer(_ form: QueueStorage, isInsert: Bool) throws {
        let device = try device(form)
        if !isInsert { try device.uploaded(Todo(title: "a"), "1") }
        try device.set(Todo(title: "b"), "1")
        let before = try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) }
        device.lose(.loseReply)
        #expect(device.upload().waitsForATime(because: .network))
        #expect(device.server("1")?["title"] == "b")
        let tag = device.server("1")?.recordChangeTag
        cloud.networkFault = nil
        try device.relaunch()
        device.scheduler.runUntilQuiet()
        let counts = try device.read { _, ext in try ext.numberOfChangeSets() }
        #expect(counts == (inFlight: 0, queued: 1))
        #expect(try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) } == before)
        #expect(device.upload().state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
        if !isInsert { #expect(device.server("1")?.recordChangeTag == tag, "there is one version") }
    }

    @Test("42. a deletion whose answer was lost is done", arguments: forms)
    func aDeletionWhoseAnswerWasLost(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.remove("1")
        device.lose(.loseReply)
        device.upload()
        #expect(device.server("1") == nil)
        cloud.networkFault = nil
        try device.relaunch()
        #expect(try device.queue() == ["D1"])
        #expect(device.upload().state == .idle)
        #expect(try device.queue().isEmpty)
    }
}

import CloudKit
import CloudKitTesting
import SQLite
import Testing
import Yap

@testable import YapCloudKit

/// The queue keeps its values, with no help of the handler.
@Suite struct RelaunchTests {
    let cloud = TestCloud()
    let device: HandledDevice

    init() throws {
        device = try HandledDevice(cloud, suspended: true)
    }

    @Test("27, 28, 35, 111. a relaunch finds the queue as it was, and asks the handler nothing")
    func aRelaunchFindsTheQueueAsItWas() throws {
        for number in 0..<50 { try device.set(Todo(title: "t\(number)"), "\(number)") }
        for _ in 0..<10 {
            // The ten oldest are uploaded.
            var batch = YapDatabaseCloudKitTransaction.Batch()
            try device.read { _, ext in batch = try ext.batch(DatabaseKey(nil), itemsMax: 1) }
            try device.write { _, ext in
                var completion = SyncCompletion()
                completion.saved = [(batch.items[0], batch.saves[0])]
                try ext.complete(completion, DatabaseKey(nil), merge: nil)
            }
        }
        let before = try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) }
        let queue = try device.queue()
        #expect(before.count == 40)
        device.behave { $0.handled = [] }
        try device.relaunch()
        #expect(try device.read { _, ext in try ext.pendingChangeSets().map(\.uuid) } == before)
        #expect(try device.queue() == queue)
        #expect(device.seen.handled.isEmpty)
    }

    @Test("29, 30, 31, 34. intermediate values and nil survive, with the earliest original")
    func intermediateValuesSurvive() throws {
        try device.uploaded(Todo(title: "a", note: "x"), "1")
        try device.edit("1") {
            $0.title = "b"
            $0.note = nil
        }
        try device.edit("1") { $0.isDone = true }
        try device.edit("1") {
            $0.title = "c"
            $0.note = "y"
        }
        try device.relaunch()
        #expect(try device.queue() == ["S1{note=nil,title=b}", "S1{done=1}", "S1{note=y,title=c}"])
        try device.merge(device.changeOnServer("1") { $0["priority"] = 3 })
        #expect(device.seen.merged.last?.originals == ["done", "note", "title"])
        #expect(device.upload() == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["note"] == "y")
        #expect(device.server("1")?["done"] == true)
    }

    @Test("33, 37, 38. a queued change doesn't need its row")
    func aQueuedChangeDoesNotNeedItsRow() throws {
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        try device.write { _, ext in
            try ext.detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: false)
        }
        device.behave { $0.omitsAll = true }
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
        }
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=b}"])
        #expect(device.upload() == .idle)
        #expect(device.server("1")?["title"] == "b")
    }

    @Test("39. values that are in no object are uploaded after a relaunch")
    func valuesThatAreInNoObject() throws {
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { _, ext in
            let record = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            record["migrated"] = "yes"
            #expect(try ext.saveRecord(record, databaseIdentifier: nil))
        }
        try device.relaunch()
        #expect(try device.queue() == ["S1{migrated=yes}"])
        #expect(device.upload() == .idle)
        #expect(device.server("1")?["migrated"] == "yes")
    }

    @Test(
        "40, 41, 42, B7. a lost answer ends with one version on the server and an empty queue",
        arguments: [true, false])
    func aLostAnswer(isInsert: Bool) throws {
        if !isInsert { try device.uploaded(Todo(title: "a"), "1") }
        try device.set(Todo(title: "b"), "1")
        device.lose(.loseReply)
        if case .waiting(_, .network) = device.upload() {} else { Issue.record("\(device.cloudKit.status)") }
        #expect(device.server("1")?["title"] == "b")
        cloud.networkFault = nil
        try device.relaunch()
        #expect(try !device.queue().isEmpty)
        #expect(device.upload() == .idle)
        #expect(try device.queue().isEmpty)
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test("36. a damaged entry of the queue is seen, and takes nothing else with it")
    func aDamagedEntryIsSeen() throws {
        try device.set(Todo(title: "a"), "1")
        try device.write { transaction, ext in
            try transaction.sqlite.execute("UPDATE \(ext.tables.table("change")) SET fields = x'FF'")
        }
        device.upload()
        if case .waiting(_, .localDatabase) = device.cloudKit.status {
        } else {
            Issue.record("\(device.cloudKit.status)")
        }
        #expect(device.seen.errors.map(\.code) == [.internalError])
        #expect(try device.todo("1")?.title == "a")
        try device.set(Todo(title: "b"), "2")
        #expect(try device.contains("2"))
    }

    @Test("42. a deletion whose answer was lost is done")
    func aDeletionWhoseAnswerWasLost() throws {
        try device.uploaded(Todo(title: "a"), "1")
        try device.remove("1")
        device.lose(.loseReply)
        device.upload()
        cloud.networkFault = nil
        try device.relaunch()
        #expect(device.upload() == .idle)
        #expect(try device.queue().isEmpty)
    }
}

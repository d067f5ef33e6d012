import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// What the queue does about rows that changed where it wasn't looking, that can't be read, and that it was told to
/// give up.
@Suite struct QueueHoleTests {
    /// Writes rows while the extension isn't registered, as another program does.
    private func writeUnseen(
        _ path: String, _ body: (YapDatabaseReadWriteTransaction) throws -> Void
    ) throws {
        let database = try YapDatabase(path: path) {
            for collection in ["todos", "shared", "local"] {
                $0.register(Todo.self, inCollection: collection)
            }
        }
        try database.newConnection().blocking.readWrite(body)
        try database.blocking.close()
    }

    @Test func aFieldThatIsNewOverwritesNothingAlsoWhenTheFirstWriteComesBeforeTheRegistration() throws {
        let cloud = TestCloud()
        let laptop = try SyncedDevice(cloud)
        let path = NSTemporaryDirectory() + "yap-hole-" + UUID().uuidString + ".db"
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let container = cloud.device(user: "ada").container
        func open<Model: CloudModel>(_ type: Model.Type, writesFirst: Bool) throws -> (YapDatabase, CloudSync)
        {
            let database = try YapDatabase(path: path) {
                $0.register(type, inCollection: "todos")
                $0.register(Note.self, inCollection: "notes")
            }
            if writesFirst {
                try database.newConnection().blocking.readWrite {
                    try $0.setObject(Note(text: "local"), forKey: "n", inCollection: "notes")
                }
            }
            let sync = try CloudSync(
                database, container: container, models: [.model(type, collection: "todos")], zone: "todos",
                scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
                random: SeededRandomSource(seed: 5))
            return (database, sync)
        }
        laptop.syncNow()
        try laptop.set(Todo(title: "eggs", isDone: true, note: "six"), "1")
        laptop.syncNow()
        var (database, sync) = try open(EarlierTodo.self, writesFirst: false)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(Todo.self, writesFirst: true)
        #expect(sync.syncNowInline().state == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "eggs", isDone: true, note: "six"))
        try database.blocking.close()
    }

    @Test("26. a row id that another row got unseen is not taken for the former row's", arguments: forms)
    func aRowIDThatWentToAnotherRowUnseen(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.uploaded(Todo(title: "old"), "1")
        try device.edit("1") { $0.note = "waits" }
        try device.relaunch {
            try writeUnseen(device.path) { transaction in
                try transaction.removeObject(forKey: "1", inCollection: "todos")
                try transaction.setObject(Todo(title: "new"), forKey: "2", inCollection: "todos")
            }
        }
        #expect(try !device.contains("1"))
        #expect(try device.contains("2"))
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "new")
    }

    @Test func aRowIDThatWentToAnotherRowUnseenIsNotTakenForTheRowThatHadIt() throws {
        let device = try SyncedDevice(TestCloud())
        try device.set(Todo(title: "old"), "1")
        #expect(device.syncNow().state == .idle)
        try writeUnseen(device.path) { transaction in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "new"), forKey: "2", inCollection: "todos")
        }
        try device.relaunch()
        #expect(device.syncNow().state == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "new")
        #expect(try device.todos() == ["2": Todo(title: "new")])
    }

    @Test(arguments: forms)
    func whatIsMadeAnewAfterAnInsertWasGivenUpIsSentWhole(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.set(Todo(title: "a", priority: 3), "1")
        try device.write { _, ext in
            for row in try ext.tables.records.records(device.id("1"), DatabaseKey(nil)) {
                try ext.tables.queue.quarantineChanges(
                    of: row.id, code: Int64(CKError.Code.invalidArguments.rawValue))
            }
        }
        try device.write { _, ext in
            try ext.discardQuarantinedChanges(forRecordID: device.id("1"), databaseIdentifier: nil)
        }
        #expect(try device.queue() == [])
        try device.edit("1") { $0.isDone = true }
        #expect(try device.queue() == ["S1{done=1,priority=3,title=a}"])
    }

    @Test(arguments: forms) func anObjectThatCannotBeReadCanBeOverwritten(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        try damage(device.database)
        try device.set(Todo(title: "b", priority: 2), "1")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["priority"] == 2)
    }

    @Test func anObjectThatCannotBeReadCanBeRemovedAndOverwrittenInASyncedModel() throws {
        let cloud = TestCloud()
        let device = try SyncedDevice(cloud)
        try device.set(Todo(title: "a"), "1")
        try device.set(Todo(title: "a"), "2")
        device.syncNow()
        try damage(device.database)
        try device.relaunch()
        try device.remove("1")
        try device.set(Todo(title: "b", priority: 2), "2")
        #expect(device.syncNow().state == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "b")
        #expect(device.server("2")?["priority"] == 2)
    }

    private func damage(_ database: YapDatabase) throws {
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.sqlite.execute("UPDATE database2 SET data = x'FF00' WHERE collection = 'todos'")
        }
    }

    @Test func aRowThatTheMergeBlockPutsInThePlaceOfItsOwnIsAChangeLikeAnyOther() throws {
        let device = try HandledDevice(TestCloud(), suspended: true)
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.replacesRow = "2" }
        let record = try #require(device.changeOnServer("1") { $0["title"] = "z" })
        try device.merge(record)
        #expect(try device.todo("2")?.title == "last")
        #expect(device.upload().state == .idle)
        #expect(device.server("2")?["title"] == "last")
        #expect(device.server("1") == nil)
    }
}

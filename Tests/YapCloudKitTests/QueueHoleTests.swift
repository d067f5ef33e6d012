import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import Seams
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
        try database.close()
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
        #expect(sync.syncNowInline() == .idle)
        try database.close()
        (database, sync) = try open(Todo.self, writesFirst: true)
        #expect(sync.syncNowInline() == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "eggs", isDone: true, note: "six"))
        try database.close()
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
        #expect(device.upload() == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "new")
    }

    @Test func aRowIDThatWentToAnotherRowUnseenIsNotTakenForTheRowThatHadIt() throws {
        let device = try SyncedDevice(TestCloud())
        try device.set(Todo(title: "old"), "1")
        #expect(device.syncNow() == .idle)
        try writeUnseen(device.path) { transaction in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "new"), forKey: "2", inCollection: "todos")
        }
        try device.relaunch()
        #expect(device.syncNow() == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "new")
        #expect(try device.todos() == ["2": Todo(title: "new")])
    }
}

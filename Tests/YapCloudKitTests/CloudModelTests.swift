import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Models of `CloudSync`: what of an object goes up, under which name, in which form, and with what it was before.
@Suite struct CloudModelTests {
    struct Item: CloudModel, Equatable {
        var title = ""
        var isDone = false
        var colour = MyColor(red: 0, green: 0, blue: 0)
        var note: String?
        /// Stays on the device.
        var lastOpened = 0

        static let recordType = "item"
        static let fields = CloudFields<Item> {
            $0.field(\.title)
            $0.field(\.isDone, as: "completed")
            $0.field(\.colour, toCloud: { $0.text }, fromCloud: { MyColor(text: $0 as? String) })
            $0.field(\.note).merged { base, local, remote in
                [local, remote].compactMap { $0 }.sorted().joined(separator: " / ")
            }
        }
    }

    /// A device with a model of the test's own.
    final class Device {
        let path = NSTemporaryDirectory() + "yap-model-" + UUID().uuidString + ".db"
        let database: YapDatabase
        let sync: CloudSync
        let container: CKContainer
        let scheduler: ManualScheduler

        init(
            _ cloud: TestCloud, _ model: CloudSyncModel, _ configure: (inout YapDatabaseConfiguration) -> Void
        ) throws {
            container = cloud.device(user: "ada").container
            database = try YapDatabase(path: path, configure: configure)
            scheduler = ManualScheduler(clock: cloud.clock)
            sync = try CloudSync(
                database, container: container, models: [model], zone: "items",
                scheduler: scheduler, clock: cloud.clock,
                random: SeededRandomSource(seed: 5))
            sync.syncNowInline()
        }

        deinit {
            try? database.blocking.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
            try database.newConnection().blocking.readWrite(body)
        }

        func object<Object: Sendable>(_ type: Object.Type, _ key: String) throws -> Object? {
            try database.newConnection().blocking.read {
                try $0.object(type, forKey: key, inCollection: "items")
            }
        }

        /// The queue: each record's changed fields, and what they were.
        func queue() throws -> [String] {
            try database.newConnection().blocking.read { transaction in
                let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                return try ext.pendingChangeSets().flatMap { changeSet in
                    changeSet.recordsToSave.map { record in
                        let originals = changeSet.originalValues(for: record.recordID)
                        return record.changedKeys().sorted().map { key in
                            let now = record.object(forKey: key).map { "\($0)" } ?? "nil"
                            guard let before = originals[key] else { return "\(key)=\(now)" }
                            return "\(key)=\(now) was \(before.map { "\($0)" } ?? "nil")"
                        }.joined(separator: ", ")
                    }
                }
            }
        }

        func server(_ key: String) -> CKRecord? {
            let found = Lock<CKRecord?>(nil)
            let operation = CKFetchRecordsOperation(
                recordIDs: [CKRecord.ID(recordName: key, zoneID: CKRecordZone.ID(zoneName: "items"))])
            operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
            container.privateCloudDatabase.add(operation)
            return found.withLock { $0 }
        }
    }

    let cloud = TestCloud()
    let phone: Device
    let laptop: Device

    init() throws {
        let model = CloudSyncModel.model(Item.self, collection: "items")
        phone = try Device(cloud, model) { $0.register(Item.self, inCollection: "items") }
        laptop = try Device(cloud, model) { $0.register(Item.self, inCollection: "items") }
    }

    private func edit(_ device: Device, _ change: (inout Item) -> Void) throws {
        try device.write { transaction in
            guard var item = try transaction.object(Item.self, forKey: "1", inCollection: "items") else {
                return
            }
            change(&item)
            try transaction.setObject(item, forKey: "1", inCollection: "items")
        }
    }

    private func start() throws {
        try phone.write { try $0.setObject(Item(title: "eggs"), forKey: "1", inCollection: "items") }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
    }

    @Test("1, 3, 5, 6. only the changed fields are sent, each with its original; other properties never are")
    func onlyTheChangedFieldsGoUp() throws {
        try start()
        phone.sync.suspend()
        try edit(phone) { $0.lastOpened = 7 }
        try edit(phone) { $0 = $0 }
        #expect(try phone.queue() == [])
        try edit(phone) { $0.isDone = true }
        try edit(phone) { $0.note = "six" }
        #expect(try phone.queue() == ["completed=1 was 0", "note=six was nil"])
        phone.sync.resume()
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        #expect(try laptop.object(Item.self, "1") == Item(title: "eggs", isDone: true, note: "six"))
        #expect(phone.server("1")?.allKeys().sorted() == ["colour", "completed", "note", "title"])
    }

    @Test("4. two changes of a field in one transaction are one, with the original before both")
    func twoChangesInOneTransaction() throws {
        try start()
        phone.sync.suspend()
        try phone.write { transaction in
            for title in ["bread", "milk"] {
                try transaction.setObject(Item(title: title), forKey: "1", inCollection: "items")
            }
        }
        #expect(try phone.queue() == ["title=milk was eggs"])
    }

    @Test func aConvertedFieldIsItsOwnTypeHereAndTheCloudsThere() throws {
        try start()
        try edit(phone) { $0.colour = MyColor(red: 9, green: 8, blue: 7) }
        phone.sync.syncNowInline()
        #expect(phone.server("1")?["colour"] == "9,8,7,255")
        laptop.sync.syncNowInline()
        #expect(try laptop.object(Item.self, "1")?.colour == MyColor(red: 9, green: 8, blue: 7))
        // Nonsense of another version leaves the colour as it is; a removed one is the default.
        try change { $0["colour"] = "blue" }
        #expect(try laptop.object(Item.self, "1")?.colour == MyColor(red: 9, green: 8, blue: 7))
        try change { $0["colour"] = nil }
        #expect(try laptop.object(Item.self, "1")?.colour == Item().colour)
    }

    /// What a device of another version does.
    private func change(_ change: (CKRecord) -> Void) throws {
        let record = try #require(phone.server("1"))
        change(record)
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
        laptop.sync.syncNowInline()
    }

    @Test func aRuleOfAFieldMakesOneValueOfBothOnEveryDevice() throws {
        try start()
        try edit(phone) { $0.note = "phone" }
        try edit(laptop) { $0.note = "laptop" }
        for device in [phone, laptop, phone, laptop] { device.sync.syncNowInline() }
        #expect(try phone.object(Item.self, "1")?.note == "laptop / phone")
        #expect(try laptop.object(Item.self, "1")?.note == "laptop / phone")
    }

    @Test func objectsThatTrackTheirChangesAreModelsToo() throws {
        let model = CloudSyncModel.model(MyTodo.self, recordType: "todo", collection: "items")
        let phone = try Device(cloud, model) { $0.register(MyTodo.self, inCollection: "items") }
        let laptop = try Device(cloud, model) { $0.register(MyTodo.self, inCollection: "items") }
        let todo = MyTodo(uuid: "t", title: "eggs")
        todo.color = MyColor(red: 1, green: 2, blue: 3)
        try phone.write { try $0.setObject(todo, forKey: "t", inCollection: "items") }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        let theirs = try #require(try laptop.object(MyTodo.self, "t"))
        #expect(
            theirs.title == "eggs" && theirs.color == MyColor(red: 1, green: 2, blue: 3) && theirs.isImmutable
        )
        func edit(_ device: Device, _ change: (MyTodo) -> Void) throws {
            try device.write { transaction in
                let todo = try #require(
                    try transaction.object(MyTodo.self, forKey: "t", inCollection: "items")
                ).copy()
                change(todo)
                try transaction.setObject(todo, forKey: "t", inCollection: "items")
            }
        }
        laptop.sync.suspend()
        try edit(laptop) { $0.isCompleted = true }
        #expect(try laptop.queue() == ["completed=1 was 0"])
        laptop.sync.resume()
        try edit(phone) { $0.title = "bread" }
        for device in [phone, laptop, phone] { device.sync.syncNowInline() }
        for device in [phone, laptop] {
            let todo = try #require(try device.object(MyTodo.self, "t"))
            #expect(todo.title == "bread" && todo.isCompleted)
        }
        #expect(try phone.queue() == [] && laptop.queue() == [])
    }

    @Test func anObjectStoredAgainAfterARollbackIsSyncedAllTheSame() throws {
        let model = CloudSyncModel.model(MyTodo.self, recordType: "todo", collection: "items")
        let phone = try Device(cloud, model) { $0.register(MyTodo.self, inCollection: "items") }
        try phone.write {
            try $0.setObject(MyTodo(uuid: "t", title: "eggs"), forKey: "t", inCollection: "items")
        }
        phone.sync.syncNowInline()
        let todo = try #require(try phone.object(MyTodo.self, "t")).copy()
        todo.title = "bread"
        try phone.write { transaction in
            try transaction.setObject(todo, forKey: "t", inCollection: "items")
            transaction.rollback()
        }
        try phone.write { try $0.setObject(todo, forKey: "t", inCollection: "items") }
        phone.sync.syncNowInline()
        #expect(phone.server("t")?["title"] == "bread")
    }
}

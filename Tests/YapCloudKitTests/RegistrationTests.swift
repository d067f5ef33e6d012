import CloudKit
import CloudKitTesting
import SQLite
import System
import Testing
import Yap

@testable import YapCloudKit

/// Registering the extension: for the first time, again, with another handler, twice.
@Suite struct RegistrationTests {
    @Test("110. the first registration queues every row that is there, in one change-set", arguments: forms)
    func theFirstRegistrationQueuesEveryRow(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, registers: false, storage: form)
        let connection = device.database.newConnection()
        try connection.blocking.readWrite { transaction in
            for number in 1...3 {
                try transaction.setObject(Todo(title: "t"), forKey: "\(number)", inCollection: "todos")
            }
            try transaction.setObject(Todo(title: "t"), forKey: "4", inCollection: "local")
        }
        try device.register()
        #expect(device.seen.versionInfos == 3)
        #expect(try device.queue().count == 1)
        #expect(device.upload().state == .idle)
        #expect(device.server("3")?["title"] == "t")
    }

    @Test(
        "112, 113. another version of the handler walks all rows; one it leaves out is only detached",
        arguments: forms)
    func anotherVersionWalksAllRows(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.uploaded(Todo(title: "b"), "2")
        try device.edit("1") { $0.title = "c" }
        device.behave {
            $0.versionTag = "2"
            $0.touchedPriority = 7
            $0.skippedKeys = ["2"]
        }
        try device.relaunch()
        #expect(device.seen.versionInfos == 2)
        #expect(try device.queue() == ["S1{title=c}", "S1{priority=7}"])
        #expect(try !device.contains("2"))
        #expect(device.upload().state == .idle)
        #expect(device.server("2") != nil)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["priority"] == 7)
        try device.edit("1") { $0.title = "d" }
        #expect(device.seen.versionInfos == 2, "only while all rows are walked")
    }

    @Test("114. unregistering drops the tables")
    func unregisteringDropsTheTables() throws {
        let device = try HandledDevice(TestCloud(), suspended: true)
        try device.set(Todo(title: "a"), "1")
        try device.database.blocking.unregister("ck")
        let left = try device.database.newConnection().blocking.read { transaction in
            try transaction.sqlite.withStatement(
                "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cloudKit%'"
            ) { try $0.step() ? $0.int64(at: 0) : -1 }
        }
        #expect(left == 0)
    }

    @Test("114. a registration that fails leaves no tables")
    func aRegistrationThatFailsLeavesNoTables() throws {
        struct Refused: Error {}
        let device = try HandledDevice(TestCloud(), suspended: true, registers: false)
        try device.database.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
        }
        let failing = YapDatabaseCloudKit(
            recordHandler: .withKey { _, _, _, _, _ in throw Refused() }, mergeBlock: { _, _, _, _, _ in },
            versionTag: "1",
            environment: SyncEnvironment(
                scheduler: device.scheduler, clock: device.cloud.clock, random: SeededRandomSource(seed: 1),
                databaseBlock: { _ in nil }, errorBlock: { _, _ in }))
        #expect(throws: Refused.self) { try device.database.blocking.register(failing, withName: "ck") }
        let left = try device.database.newConnection().blocking.read { transaction in
            try transaction.sqlite.withStatement(
                "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cloudKit%'"
            ) { try $0.step() ? $0.int64(at: 0) : -1 }
        }
        #expect(left == 0)
        try device.register()
        #expect(try device.queue() == ["S1{done=0,priority=0,title=a}"])
    }

    @Test("115. two registrations in one file don't know of one another", arguments: forms)
    func twoRegistrationsInOneFile(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        let second = HandledDevice.make(
            device.device, device.scheduler, device.cloud, device.behaviour, device.options)
        second.suspend()
        try device.database.blocking.register(second, withName: "ck2")
        try device.set(Todo(title: "a"), "1")
        try device.database.newConnection().blocking.readWrite { transaction in
            try transaction.ext("ck", as: YapDatabaseCloudKit.self).detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: true, shouldUploadDeletion: false)
        }
        let counts = try device.database.newConnection().blocking.read { transaction in
            try ["ck", "ck2"].map {
                try transaction.ext($0, as: YapDatabaseCloudKit.self).numberOfPendingChangeSets()
            }
        }
        #expect(counts == [0, 1])
        let indexes = try device.database.newConnection().blocking.read { transaction in
            try ["ck", "ck2"].map { name in
                try transaction.sqlite.withStatement(
                    "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name LIKE 'cloudKit_%_\(name)'"
                ) { try $0.step() ? $0.int64(at: 0) : -1 }
            }
        }
        #expect(indexes[0] == indexes[1])
        #expect(indexes[0] > 4)
    }

    @Test("116. names that run together are different records, and so are long identifiers", arguments: forms)
    func namesThatRunTogetherAreDifferentRecords(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        let identifiers = [String(repeating: "x", count: 60) + "1", String(repeating: "x", count: 60) + "2"]
        func id(_ name: String, _ zone: String) -> CKRecord.ID {
            CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
        }
        device.behave { $0.skippedKeys = ["1", "2"] }
        try device.set(Todo(), "1")
        try device.set(Todo(), "2")
        let contained = try device.write { _, ext in
            try ext.attachRecord(
                CKRecord(recordType: "todo", recordID: id("ab", "c")), databaseIdentifier: identifiers[0],
                forKey: "1", inCollection: "todos", shouldUploadRecord: false)
            return [
                try ext.containsRecordID(id("ab", "c"), databaseIdentifier: identifiers[0]),
                try ext.containsRecordID(id("a", "bc"), databaseIdentifier: identifiers[0]),
                try ext.containsRecordID(id("ab", "c"), databaseIdentifier: identifiers[1]),
            ]
        }
        #expect(contained == [true, false, false])
    }

    @Test("registered again after the app wrote without the extension, it catches up", arguments: forms)
    func itCatchesUpWithWhatItMissed(_ form: QueueStorage) throws {
        let device = try HandledDevice(TestCloud(), suspended: true, storage: form)
        try device.uploaded(Todo(title: "a"), "1")
        let path = device.path
        try device.database.blocking.close()
        do {
            let plain = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            try plain.newConnection().blocking.readWrite { transaction in
                try transaction.removeObject(forKey: "1", inCollection: "todos")
                try transaction.setObject(Todo(title: "b"), forKey: "2", inCollection: "todos")
            }
            try plain.blocking.close()
        }
        try device.relaunch()
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("2")?["title"] == "b")
    }
}

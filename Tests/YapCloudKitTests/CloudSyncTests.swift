import CloudKit
import CloudKitTesting
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// The documents' CloudKitManager as a library: start-up, the app's life, zones.
@Suite struct CloudSyncTests {
    let cloud = TestCloud()

    @Test("the zone, the subscription and the first fetch come before the first upload")
    func startUpComesBeforeTheFirstUpload() throws {
        let other = try SyncedDevice(cloud)
        other.syncNow()
        try other.set(Todo(title: "theirs"), "2")
        other.syncNow()
        let phone = try SyncedDevice(cloud, listens: true)
        try phone.set(Todo(title: "mine"), "1")
        phone.syncNow()
        let kinds = cloud.requests.filter { $0.deviceNumber == phone.device.number }.map(\.kind)
        let first = { (kind: RequestKind) in kinds.firstIndex(of: kind) ?? .max }
        let upload = first(.modifyRecords)
        #expect(first(.modifyRecordZones) < first(.fetchRecordZoneChanges))
        #expect(first(.modifySubscriptions) < first(.fetchRecordZoneChanges))
        #expect(first(.fetchRecordZoneChanges) < upload && upload < .max)
        #expect(try phone.todos().count == 2)
        #expect(phone.server("1") != nil)
    }

    @Test(
        "186. nothing is uploaded before the first fetch, also when the sync counts its queue before the start"
    )
    func aSyncThatIsAheadOfItsStartUploadsNothingBeforeTheFirstFetch() throws {
        let folder = try TemporaryFolder()
        let database = try YapDatabase(path: folder.file("todos.yap")) {
            $0.register(Todo.self, inCollection: "todos")
        }
        let scheduler = ManualScheduler(clock: cloud.clock)
        let uploads = { self.cloud.requestCount(.modifyRecords) }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos", scheduler: scheduler,
            clock: cloud.clock, random: SeededRandomSource(seed: 5),
            whenRegistered: {
                try database.newConnection().blocking.readWrite {
                    try $0.setObject(Todo(title: "mine"), forKey: "1", inCollection: "todos")
                }
                scheduler.runUntilQuiet()
                #expect(uploads() == 0)
            })
        #expect(sync.syncNowInline().state == .idle)
        #expect(uploads() == 1)
        let kinds = cloud.requests.map(\.kind)
        #expect(kinds.prefix { $0 != .modifyRecords }.contains(.fetchRecordZoneChanges))
        try database.blocking.close()
    }

    @Test func whileAStepOfTheStartFailsNothingIsUploadedAndItIsNeverIdle() throws {
        for kind in [RequestKind.modifyRecordZones, .modifySubscriptions, .fetchRecordZoneChanges] {
            let cloud = TestCloud()
            let phone = try SyncedDevice(cloud, listens: true)
            cloud.fail(kind, with: .serviceUnavailable, retryAfterSeconds: 5, times: 1)
            try phone.set(Todo(title: "mine"), "1")
            let status = phone.syncNow()
            guard status.waitsForATime(because: .server(.serviceUnavailable)) else {
                Issue.record("\(kind): \(status)")
                continue
            }
            #expect(cloud.requestCount(.modifyRecords) == 0)
            cloud.clock.advance(bySeconds: 10)
            phone.scheduler.runUntilQuiet()
            #expect(phone.sync.currentStatus.state == .idle)
            #expect(phone.server("1") != nil)
        }
    }

    @Test func inTheBackgroundNothingIsUploadedHoweverOftenItIsSaid() throws {
        let phone = try SyncedDevice(cloud)
        phone.syncNow()
        phone.sync.didEnterBackground()
        phone.sync.didEnterBackground()
        try phone.set(Todo(title: "mine"), "1")
        #expect(phone.syncNow().waits(for: .suspended))
        #expect(phone.server("1") == nil)
        // An own suspend of the app is not ended by the foreground.
        phone.sync.suspend()
        phone.sync.willEnterForeground()
        phone.sync.willEnterForeground()
        #expect(phone.sync.cloudKit.suspendCount == 1)
        phone.sync.resume()
        phone.scheduler.runUntilQuiet()
        #expect(phone.server("1") != nil)
        #expect(phone.sync.currentStatus.state == .idle)
    }

    @Test func theForegroundFetchesWhatOtherDevicesChangedMeanwhile() throws {
        let phone = try SyncedDevice(cloud)
        let laptop = try SyncedDevice(cloud)
        phone.syncNow()
        phone.sync.didEnterBackground()
        try laptop.set(Todo(title: "theirs"), "2")
        laptop.syncNow()
        phone.sync.willEnterForeground()
        phone.scheduler.runUntilQuiet()
        #expect(try phone.todo("2")?.title == "theirs")
    }

    @Test func whenTheNetworkReturnsPendingWorkContinuesAtOnce() throws {
        let phone = try SyncedDevice(cloud)
        let laptop = try SyncedDevice(cloud)
        phone.syncNow()
        cloud.disconnect(phone.device)
        try phone.set(Todo(title: "mine"), "1")
        guard phone.syncNow().waitsForATime(because: .network) else {
            Issue.record("\(phone.sync.currentStatus)")
            return
        }
        try laptop.set(Todo(title: "theirs"), "2")
        laptop.syncNow()
        cloud.connect(phone.device)
        phone.sync.networkMayBeBack()
        phone.scheduler.runUntilQuiet()
        #expect(phone.sync.currentStatus.state == .idle)
        #expect(phone.server("1") != nil)
        #expect(try phone.todo("2")?.title == "theirs")
    }

    @Test("10. folded, a slider's hundred values are one upload with the last value")
    func foldedASlidersValuesAreOneUpload() throws {
        let path = NSTemporaryDirectory() + "yap-folds-" + UUID().uuidString + ".db"
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 5), foldsQueuedChanges: true)
        sync.syncNowInline()
        let connection = database.newConnection()
        let before = cloud.requestCount(.modifyRecords)
        for value in 1...100 {
            try connection.blocking.readWrite {
                try $0.setObject(Todo(title: "slider", priority: value), forKey: "1", inCollection: "todos")
            }
        }
        #expect(sync.syncNowInline().state == .idle)
        #expect(cloud.requestCount(.modifyRecords) == before + 1)
        let laptop = try SyncedDevice(cloud)
        laptop.syncNow()
        #expect(try laptop.todo("1")?.priority == 100)
        try database.blocking.close()
    }

    // MARK: Deleted zones

    /// The user deletes the app's zone in the settings, while an edit waits.
    private func deletedZone() throws -> SyncedDevice {
        let phone = try SyncedDevice(cloud)
        try phone.set(Todo(title: "one"), "1")
        try phone.set(Todo(title: "two"), "2")
        phone.syncNow()
        phone.device.container.privateCloudDatabase.add(
            CKModifyRecordZonesOperation(recordZoneIDsToDelete: [phone.sync.zoneID]))
        try phone.edit("1") { $0.note = "waits" }
        cloud.fail(.fetchRecordZoneChanges, with: .userDeletedZone)
        #expect(phone.syncNow().needs([.zoneDeletedByUser(zoneName: "todos")]))
        #expect(try phone.todos().count == 2)
        #expect(try !phone.queue().isEmpty)
        return phone
    }

    @Test("107. a zone that the user deleted: the app chooses to recreate it with all objects here")
    func aZoneThatTheUserDeletedIsUploadedAgain() throws {
        let phone = try deletedZone()
        #expect(try phone.sync.answerDeletedZoneInline(zoneName: "todos", .uploadAgain))
        #expect(phone.syncNow().state == .idle)
        #expect(phone.server("1")?["note"] == "waits" && phone.server("2")?["title"] == "two")
    }

    @Test(
        "107. a zone that the user deleted: the app chooses to remove the objects here too, and continues empty"
    )
    func aZoneThatTheUserDeletedIsRemovedHere() throws {
        let phone = try deletedZone()
        // Of another zone nothing was asked.
        #expect(try !phone.sync.answerDeletedZoneInline(zoneName: "other", .removeHere))
        #expect(try phone.sync.answerDeletedZoneInline(zoneName: "todos", .removeHere))
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todos().isEmpty)
        #expect(try phone.queue().isEmpty)
        #expect(phone.server("1") == nil && phone.server("2") == nil)
        // What was dropped is told.
        #expect(phone.log.withLock { $0 }.map(\.dropped) == ["waits"])
        try phone.set(Todo(title: "new"), "3")
        #expect(phone.syncNow().state == .idle)
        #expect(phone.server("3") != nil)
        // And now nothing is asked any more.
        #expect(try !phone.sync.answerDeletedZoneInline(zoneName: "todos", .removeHere))
        #expect(try phone.todos().keys.sorted() == ["3"])
    }

    // MARK: Several zones

    /// Two collections of one type, each in a zone of its own.
    private func device(_ path: String, zones: [String: String?]) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) {
            for collection in zones.keys { $0.register(Todo.self, inCollection: collection) }
        }
        let models = zones.sorted { $0.key < $1.key }.map { collection, zone in
            CloudSyncModel.model(Todo.self, collection: collection, zone: zone)
        }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container, models: models, zone: "main",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 5))
        return (database, sync)
    }

    private func withPaths(_ body: ([String]) throws -> Void) throws {
        let paths = (0..<2).map { _ in NSTemporaryDirectory() + "yap-zones-" + UUID().uuidString + ".db" }
        defer {
            for path in paths {
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: path + suffix)
                }
            }
        }
        try body(paths)
    }

    private func titles(_ database: YapDatabase, _ collection: String) throws -> [String] {
        try database.newConnection().blocking.read { transaction in
            try transaction.objects(Todo.self, inCollection: collection).map(\.object.title).sorted()
        }
    }

    @Test func collectionsInZonesOfTheirOwnSyncSideBySide() throws {
        try withPaths { paths in
            let zones: [String: String?] = ["home": nil, "work": "office"]
            let (phone, phoneSync) = try device(paths[0], zones: zones)
            let (laptop, laptopSync) = try device(paths[1], zones: zones)
            try phone.newConnection().blocking.readWrite { transaction in
                try transaction.setObject(Todo(title: "eggs"), forKey: "1", inCollection: "home")
                // The same key in the other zone is another record.
                try transaction.setObject(Todo(title: "report"), forKey: "1", inCollection: "work")
            }
            for sync in [phoneSync, laptopSync] { #expect(sync.syncNowInline().state == .idle) }
            #expect(try titles(laptop, "home") == ["eggs"])
            #expect(try titles(laptop, "work") == ["report"])
            try laptop.newConnection().blocking.readWrite {
                try $0.removeObject(forKey: "1", inCollection: "home")
            }
            for sync in [laptopSync, phoneSync] { #expect(sync.syncNowInline().state == .idle) }
            #expect(try titles(phone, "home") == [] && titles(phone, "work") == ["report"])
            try phone.blocking.close()
            try laptop.blocking.close()
        }
    }

    @Test("14. a model that names another zone than before moves its records there")
    func aModelThatNamesAnotherZoneMovesItsRecords() throws {
        try withPaths { paths in
            var (phone, sync) = try device(paths[0], zones: ["work": nil])
            try phone.newConnection().blocking.readWrite {
                try $0.setObject(Todo(title: "report"), forKey: "1", inCollection: "work")
            }
            #expect(sync.syncNowInline().state == .idle)
            try phone.blocking.close()
            (phone, sync) = try device(paths[0], zones: ["work": "office"])
            #expect(sync.syncNowInline().state == .idle)
            #expect(try titles(phone, "work") == ["report"])
            let (laptop, laptopSync) = try device(paths[1], zones: ["work": "office"])
            #expect(laptopSync.syncNowInline().state == .idle)
            #expect(try titles(laptop, "work") == ["report"])
            try phone.blocking.close()
            try laptop.blocking.close()
        }
    }

    /// An app on one file, with a model of the notes or without.
    private func openApp(_ path: String, knowsNotes: Bool) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) {
            $0.register(Todo.self, inCollection: "todos")
            $0.register(Note.self, inCollection: "notes")
        }
        let todos = CloudSyncModel.model(Todo.self, collection: "todos")
        let notes = CloudSyncModel.model(Note.self, collection: "notes")
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: knowsNotes ? [todos, notes] : [todos], zone: "main",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 5))
        return (database, sync)
    }

    @Test("127. a record of an unknown type that the server lost is uploaded by the version that knows it")
    func aRecordOfAnUnknownTypeThatTheServerLost() throws {
        try withPaths { paths in
            var (database, sync) = try openApp(paths[0], knowsNotes: false)
            #expect(sync.syncNowInline().state == .idle)
            let record = CKRecord(
                recordType: "note", recordID: CKRecord.ID(recordName: "n", zoneID: sync.zoneID))
            record["text"] = "of a later version"
            let cloudDatabase = cloud.device(user: "ada").container.privateCloudDatabase
            cloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
            #expect(sync.syncNowInline().state == .idle)
            cloudDatabase.add(CKModifyRecordZonesOperation(recordZoneIDsToDelete: [sync.zoneID]))
            cloudDatabase.add(
                CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: sync.zoneID)]))
            #expect(sync.syncNowInline().state == .idle)
            try database.blocking.close()
            (database, sync) = try openApp(paths[0], knowsNotes: true)
            #expect(sync.syncNowInline().state == .idle)
            let (laptop, laptopSync) = try openApp(paths[1], knowsNotes: true)
            #expect(laptopSync.syncNowInline().state == .idle)
            for device in [database, laptop] {
                let note = try device.newConnection().blocking.read {
                    try $0.object(Note.self, forKey: "n", inCollection: "notes")
                }
                #expect(note == Note(text: "of a later version"))
            }
            try database.blocking.close()
            try laptop.blocking.close()
        }
    }

    @Test(
        "127. a record of an unknown type that the server still has after a reset is a row, and is not uploaded"
    )
    func aRecordOfAnUnknownTypeThatTheServerStillHas() throws {
        try withPaths { paths in
            var (database, sync) = try openApp(paths[0], knowsNotes: false)
            #expect(sync.syncNowInline().state == .idle)
            let cloudDatabase = cloud.device(user: "ada").container.privateCloudDatabase
            func save() {
                let record = CKRecord(
                    recordType: "note", recordID: CKRecord.ID(recordName: "n", zoneID: sync.zoneID))
                record["text"] = "of a later version"
                cloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
            }
            save()
            #expect(sync.syncNowInline().state == .idle)
            cloudDatabase.add(CKModifyRecordZonesOperation(recordZoneIDsToDelete: [sync.zoneID]))
            cloudDatabase.add(
                CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: sync.zoneID)]))
            save()
            #expect(sync.syncNowInline().state == .idle)
            try database.blocking.close()
            let writes = cloud.requestCount(.modifyRecords)
            (database, sync) = try openApp(paths[0], knowsNotes: true)
            #expect(sync.syncNowInline().state == .idle)
            let note = try database.newConnection().blocking.read {
                try $0.object(Note.self, forKey: "n", inCollection: "notes")
            }
            #expect(note == Note(text: "of a later version"))
            #expect(cloud.requestCount(.modifyRecords) == writes)
            try database.blocking.close()
        }
    }

    @Test("86. records of a type that the app doesn't know are rows once a later version of the app knows it")
    func recordsOfAnUnknownTypeAreRowsLater() throws {
        try withPaths { paths in
            let container = cloud.device(user: "ada").container
            var (database, sync) = try openApp(paths[0], knowsNotes: false)
            #expect(sync.syncNowInline().state == .idle)
            let record = CKRecord(
                recordType: "note", recordID: CKRecord.ID(recordName: "n", zoneID: sync.zoneID))
            record["text"] = "of a later version"
            container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
            #expect(sync.syncNowInline().state == .idle)
            try database.blocking.close()
            // Without asking the server again: its token is past the record.
            let fetches = cloud.requestCount(.fetchRecordZoneChanges)
            (database, sync) = try openApp(paths[0], knowsNotes: true)
            let note = try database.newConnection().blocking.read {
                try $0.object(Note.self, forKey: "n", inCollection: "notes")
            }
            #expect(note == Note(text: "of a later version"))
            #expect(cloud.requestCount(.fetchRecordZoneChanges) == fetches)
            #expect(sync.syncNowInline().state == .idle)
            try database.newConnection().blocking.readWrite {
                try $0.setObject(Note(text: "edited"), forKey: "n", inCollection: "notes")
            }
            #expect(sync.syncNowInline().state == .idle)
            try database.blocking.close()
        }
    }

    @Test(
        "137. a save by a version without the record's type outdates that version's kept record")
    func aSaveOutdatesWhatWasKeptAside() throws {
        try withPaths { paths in
            func text(_ database: YapDatabase) throws -> String? {
                try database.newConnection().blocking.read {
                    try $0.object(Note.self, forKey: "n", inCollection: "notes")?.text
                }
            }
            func set(_ text: String, _ database: YapDatabase) throws {
                try database.newConnection().blocking.readWrite {
                    try $0.setObject(Note(text: text), forKey: "n", inCollection: "notes")
                }
            }
            var (database, sync) = try openApp(paths[0], knowsNotes: true)
            try set("first", database)
            #expect(sync.syncNowInline().state == .idle)
            sync.suspend()
            try set("second", database)
            try database.blocking.close()
            // An earlier version is installed: it fetches the record anew, and keeps it aside; then it sends what
            // waits.
            (database, sync) = try openApp(paths[0], knowsNotes: false)
            #expect(sync.syncNowInline().state == .idle)
            try database.blocking.close()
            (database, sync) = try openApp(paths[0], knowsNotes: true)
            #expect(try text(database) == "second")
            #expect(sync.syncNowInline().state == .idle)
            #expect(try text(database) == "second")
            try database.blocking.close()
        }
    }
}

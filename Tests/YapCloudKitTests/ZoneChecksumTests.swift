import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// What a device has of a zone is compared with what the server has, and a difference is mended.
@Suite struct ZoneChecksumTests {
    let folder: TemporaryFolder
    let cloud: TestCloud
    let phone: SyncedDevice
    let laptop: SyncedDevice

    init() throws {
        folder = try TemporaryFolder()
        cloud = try TestCloud(sqlitePath: folder.file("cloud.db"))
        phone = try SyncedDevice(cloud)
        laptop = try SyncedDevice(cloud)
        phone.syncNow()
        laptop.syncNow()
    }

    // MARK: Reading

    private func sql(_ path: String, _ text: String) throws {
        let connection = try Connection(path: path)
        try connection.execute(text)
        try connection.close()
    }

    private func numbers(_ path: String, _ text: String, columns: Int32) throws -> [Int64?] {
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        return try connection.withStatement(text) { row in
            guard try row.step() else { return [] }
            return (0..<columns).map { row.isNull(at: $0) ? nil : row.int64(at: $0) }
        }
    }

    private func sums(_ device: SyncedDevice) throws -> [Int64?] {
        try numbers(device.path, "SELECT identities, contents FROM cloudKit_checksum_cloudKit", columns: 2)
    }

    private func serverSums() throws -> [Int64?] {
        try numbers(folder.file("cloud.db"), "SELECT identities, contents FROM zones", columns: 2)
    }

    private func found(_ device: SyncedDevice) throws -> Int {
        try device.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.checksums.differencesCount()
        }
    }

    private func fill(_ count: Int = 5) throws {
        try phone.write { transaction in
            for number in 1...count {
                try transaction.setObject(
                    Todo(title: "todo \(number)", priority: number), forKey: "\(number)",
                    inCollection: "todos")
            }
        }
        for _ in 1...2 { for device in [phone, laptop] { #expect(device.syncNow().state == .idle) } }
    }

    private func expectAgreement(_ context: Comment = "") throws {
        for device in [phone, laptop] {
            // What the first sends comes back with the second.
            for _ in 1...2 { device.syncNow() }
            #expect(try sums(device) == serverSums(), context)
            #expect(try found(device) == 0, context)
        }
    }

    // MARK: No false alarm

    @Test(
        "138. after any saves, deletions, merges and losses the device has the server's checksum"
    )
    func noFalseAlarm() throws {
        try fill()
        try expectAgreement("saved")
        try phone.edit("1") { $0.title = "edited" }
        try laptop.edit("1") { $0.priority = 9 }
        for device in [phone, laptop, phone] { device.syncNow() }
        try expectAgreement("merged")
        try phone.remove("2")
        try laptop.edit("2") { $0.title = "kept" }
        for device in [phone, laptop, phone] { device.syncNow() }
        try expectAgreement("an edit beat a deletion")
        cloud.loseReplies(.modifyRecords, times: 1)
        try phone.edit("3") { $0.note = "lost" }
        try phone.remove("4")
        phone.syncNow()
        cloud.clock.advance(bySeconds: 100)
        phone.scheduler.runUntilQuiet()
        try expectAgreement("a lost answer")
        try phone.write { transaction in
            try transaction.removeObject(forKey: "5", inCollection: "todos")
            try transaction.setObject(Todo(title: "again"), forKey: "5", inCollection: "todos")
        }
        try phone.remove("1")
        try phone.set(Todo(title: "made again"), "1")
        try expectAgreement("made again")
        cloud.expireChangeTokens()
        try expectAgreement("fetched anew")
        try phone.write { try $0.removeAllObjectsInAllCollections() }
        phone.syncNow()
        #expect(try sums(phone) == serverSums(), "the rows went, and the cloud kept its records")
        #expect(try found(phone) == 0)
    }

    @Test("139. records that the app saves directly, and records of unknown types, count too")
    func foreignRecords() throws {
        try fill(2)
        let file = URL(filePath: folder.file("file"))
        try Data("a file".utf8).write(to: file)
        let records = ["todo", "unknown"].map { type -> CKRecord in
            let record = CKRecord(
                recordType: type,
                recordID: CKRecord.ID(recordName: "by hand \(type)", zoneID: phone.sync.zoneID))
            record["title"] = "by hand"
            record["other"] = [1.5, -0.0] as [Double]
            record["empty"] = [String]()
            record["data"] = Data([0, 255])
            record["file"] = CKAsset(fileURL: file)
            record["files"] = [CKAsset(fileURL: file)]
            record.encryptedValues["secret"] = "secret"
            return record
        }
        phone.device.container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil))
        try expectAgreement()
        phone.device.container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: nil, recordIDsToDelete: records.map(\.recordID)))
        try expectAgreement()
    }

    // MARK: Seeded differences

    @Test("140. a record missing from a page is found with the next fetch, and pending changes aren't lost")
    func aSkippedRecord() throws {
        try fill()
        phone.sync.didEnterBackground()
        try phone.edit("2") { $0.title = "waits" }
        try laptop.set(Todo(title: "skipped"), "6")
        laptop.syncNow()
        laptop.syncNow()
        // The phone has the token behind the record, and not the record.
        let token = try laptop.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .tables.tokens.token(laptop.sync.zoneID, DatabaseKey(nil))
        }
        try sql(phone.path, "UPDATE cloudKit_token_cloudKit SET token = '\(try #require(token))'")
        phone.syncNow()
        #expect(try phone.todo("6")?.title == "skipped")
        #expect(try found(phone) == 1)
        phone.sync.willEnterForeground()
        phone.scheduler.runUntilQuiet()
        #expect(phone.sync.currentStatus.state == .idle)
        #expect(phone.server("2")?["title"] == "waits")
        phone.syncNow()
        #expect(try sums(phone) == serverSums())
        #expect(try found(phone) == 1)
    }

    /// What something else does to the file, and what is then wrong.
    static let damages: [(what: String, sql: String)] = [
        ("a tag", "UPDATE cloudKit_record_cloudKit SET change_tag = '1.1' WHERE record_name = '1'"),
        ("a type", "UPDATE cloudKit_record_cloudKit SET record_type = 'other' WHERE record_name = '1'"),
        (
            "a row of the app",
            "UPDATE database2 SET data = (SELECT data FROM database2 WHERE key = '3') WHERE key = '1'"
        ),
        ("a row that is gone", "DELETE FROM database2 WHERE key = '1'"),
        ("a row that can't be read", "UPDATE database2 SET data = x'FF' WHERE key = '1'"),
    ]

    @Test(
        "141. a row changed outside of the sync is found and repaired with the next fetch, and pending changes stay",
        arguments: damages.indices)
    func aChangedRow(_ index: Int) throws {
        let damage = Self.damages[index]
        try fill()
        let before = try phone.todos()
        phone.sync.didEnterBackground()
        try phone.edit("2") { $0.title = "waits" }
        try sql(phone.path, damage.sql)
        phone.syncNow()
        #expect(try found(phone) == 1, "\(damage.what)")
        #expect(try phone.todo("1") == before["1"], "\(damage.what)")
        #expect(try phone.todo("2")?.title == "waits")
        phone.sync.willEnterForeground()
        phone.scheduler.runUntilQuiet()
        #expect(phone.sync.currentStatus.state == .idle, "\(damage.what)")
        #expect(phone.server("2")?["title"] == "waits")
        #expect(phone.server("1")?["title"] == before["1"]?.title)
        try phone.edit("1") { $0.title = "edited later" }
        for _ in 1...2 { #expect(phone.syncNow().state == .idle) }
        #expect(phone.server("1")?["title"] == "edited later")
        #expect(try found(phone) == 1)
        #expect(try sums(phone) == serverSums())
        try phone.relaunch()
        #expect(try phone.todos().count == 5)
    }

    @Test(
        "142. a zone that differs after it was fetched anew is tried again after growing pauses, and seen meanwhile"
    )
    func aDifferenceThatStays() throws {
        try fill()
        try sql(folder.file("cloud.db"), "UPDATE zones SET contents = contents + 1")
        let before = cloud.requestCount(.fetchRecordZoneChanges)
        #expect(phone.syncNow().needs([.zoneDiffers(zoneName: "todos")]))
        #expect(cloud.requestCount(.fetchRecordZoneChanges) == before + 2, "once, and once anew")
        for _ in 1...3 { phone.syncNow() }
        #expect(cloud.requestCount(.fetchRecordZoneChanges) == before + 5)
        try phone.edit("1") { $0.title = "goes up all the same" }
        phone.syncNow()
        #expect(phone.server("1")?["title"] == "goes up all the same")
        cloud.clock.advance(bySeconds: 61)
        let later = cloud.requestCount(.fetchRecordZoneChanges)
        phone.syncNow()
        #expect(cloud.requestCount(.fetchRecordZoneChanges) == later + 2)
        cloud.clock.advance(bySeconds: 61)
        phone.syncNow()
        #expect(cloud.requestCount(.fetchRecordZoneChanges) == later + 3, "the pause has grown")
        #expect(try found(phone) == 1)
        try sql(folder.file("cloud.db"), "UPDATE zones SET contents = contents - 1")
        let shown = try SyncInspection(path: phone.path).registrations.first?.content?.accounts.first?
            .databases.first
        #expect(shown?.zones.first?.differs == true && shown?.zones.first?.differencesCount == 1)
        #expect(phone.syncNow().state == .idle)
        let inspection = try SyncInspection(path: phone.path)
        let zone = try #require(inspection.registrations.first?.content?.accounts.first?.databases.first)
        #expect(zone.errors.contains { $0.message.contains("todos") })
    }

    // MARK: Where nothing is compared

    @Test("143. a file of an earlier version raises no alarm, and is compared once its zone was fetched anew")
    func anUpgrade() throws {
        try fill()
        let path = phone.path
        try phone.database.blocking.close()
        try OldTables.rewrite(path, name: "cloudKit", toVersion: 3)
        try phone.relaunch()
        #expect(phone.syncNow().state == .idle)
        #expect(try sums(phone) == [nil, nil])
        try laptop.edit("1") { $0.title = "edited" }
        laptop.syncNow()
        #expect(phone.syncNow().state == .idle)
        #expect(try sums(phone) == [nil, nil])
        cloud.expireChangeTokens()
        try expectAgreement()
    }

    @Test("144. switched off, nothing is counted and nothing compared")
    func switchedOff() throws {
        let database = try YapDatabase(path: folder.file("off.db")) {
            $0.register(Todo.self, inCollection: "todos")
        }
        try fill()
        func open(_ verifies: Bool, _ name: String) throws -> CloudSync {
            try CloudSync(
                database, container: phone.device.container, models: [.model(Todo.self, collection: "todos")],
                zone: "todos", name: name, scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
                random: SeededRandomSource(seed: 1), verifiesZones: verifies)
        }
        let sync = try open(false, "off")
        #expect(sync.syncNowInline().state == .idle)
        let query = "SELECT count(*), count(identity) FROM cloudKit_record_off"
        #expect(try numbers(folder.file("off.db"), query, columns: 2) == [5, 0])
        try sql(folder.file("off.db"), "UPDATE cloudKit_record_off SET change_tag = '1.1'")
        #expect(sync.syncNowInline().state == .idle)
        #expect(
            try numbers(
                folder.file("off.db"), "SELECT differences, identities FROM cloudKit_checksum_off", columns: 2
            )
                == [0, nil])
        try database.blocking.close()
    }
}

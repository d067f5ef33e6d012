import CloudKit
import CloudKitTesting
import CloudService
import Testing
import Yap

@testable import YapCloudKit

/// A zone that another client deleted: the app decides whether the objects here go too.
@Suite struct DeletedZoneTests {
    private let cloud = TestCloud()
    private let phone: SyncedDevice
    /// Its app removes what was deleted with a zone.
    private let laptop: SyncedDevice

    init() throws {
        phone = try SyncedDevice(cloud)
        laptop = try SyncedDevice(cloud, objectsOfDeletedZones: .remove)
        for key in ["1", "2", "3"] { try phone.set(Todo(title: key), key) }
        for device in [phone, laptop] { #expect(device.syncNow().state == .idle) }
        #expect(try laptop.todos().count == 3)
    }

    /// Deletes the zone as a client does that knows nothing of the sync, and makes it again where that is asked for.
    private func deleteZone(makesItAgain: Bool = true) {
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        let zoneID = phone.sync.zoneID
        database.add(CKModifyRecordZonesOperation(recordZoneIDsToDelete: [zoneID]))
        guard makesItAgain else { return }
        database.add(CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)]))
    }

    @Test("188. the objects of a zone that was deleted and made again are uploaded where the app keeps them")
    func objectsAreKeptAndUploaded() throws {
        deleteZone()
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todos().count == 3 && phone.server("1")?["title"] == "1")
        #expect(
            phone.rules == [.serverWasReset, .serverWasReset, .serverWasReset], "and the merge log says so")
    }

    @Test(
        "188. the objects of a zone that was deleted are removed where the app says so",
        arguments: [true, false])
    func objectsAreRemoved(isMadeAgain: Bool) throws {
        deleteZone(makesItAgain: isMadeAgain)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todos().isEmpty && laptop.queue().isEmpty)
        #expect(laptop.server("1") == nil)
        try laptop.set(Todo(title: "new"), "4")
        #expect(laptop.syncNow().state == .idle)
        #expect(laptop.server("4")?["title"] == "new")
    }

    @Test("188. an edit that waits outlives the deletion of its zone") func anEditOutlivesTheDeletion() throws
    {
        try laptop.edit("2") { $0.note = "edited offline" }
        try laptop.set(Todo(title: "made offline"), "4")
        deleteZone()
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todos().keys.sorted() == ["2", "4"])
        #expect(laptop.server("2")?["note"] == "edited offline" && laptop.server("2")?["title"] == "2")
        #expect(laptop.server("4") != nil)
        #expect(laptop.rules.contains(.editBeatDeletion))
    }

    @Test("188. records of a recreated zone aren't removed") func theNewZonesRecordsAreFetched()
        throws
    {
        deleteZone()
        let other = try SyncedDevice(cloud)
        try other.set(Todo(title: "one again"), "1")
        #expect(other.syncNow().state == .idle)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todos().keys.sorted() == ["1"])
        #expect(try laptop.todo("1")?.title == "one again")
    }

    @Test("188. a zone that was deleted several times meanwhile was deleted") func severalDeletions() throws {
        for _ in 1...5 { deleteZone() }
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todos().isEmpty)
    }

    @Test("188. a server that was restored from a backup deleted nothing") func aRestoredServer() throws {
        try cloud.service.zoneMaintenance.resetEpoch(zoneName: laptop.sync.zoneID.zoneName, ofUser: "_ada")
        let records = ["1", "2", "3"].map { CKRecord.ID(recordName: $0, zoneID: laptop.sync.zoneID) }
        cloud.device(user: "ada").container.privateCloudDatabase
            .add(CKModifyRecordsOperation(recordIDsToDelete: records))
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todos().count == 3)
        #expect(laptop.server("1")?["title"] == "1", "what it lost is uploaded again")
    }
}

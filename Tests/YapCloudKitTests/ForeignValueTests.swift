import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// A newer version of the app gave a field another type: what this one can't read it doesn't overwrite.
@Suite struct ForeignValueTests {
    private let phone: SyncedDevice

    init() throws {
        phone = try SyncedDevice(TestCloud())
        try phone.set(Todo(title: "sent"), "1")
        phone.syncNow()
        let newer = try #require(phone.server("1"))
        newer["note"] = 5
        let operation = CKModifyRecordsOperation(recordsToSave: [newer], recordIDsToDelete: nil)
        phone.device.container.privateCloudDatabase.add(operation)
        #expect(phone.server("1")?["note"] as? Int == 5)
        #expect(phone.syncNow().state == .idle)
    }

    @Test func anEditOfAnotherFieldLeavesIt() throws {
        try phone.edit("1") { $0.title = "edited" }
        #expect(phone.syncNow().state == .idle)
        #expect(phone.server("1")?["note"] as? Int == 5)
        #expect(phone.server("1")?["title"] as? String == "edited")
    }

    @Test("88. a restored server gets this device's values, and keeps those that this device can't read")
    func aServerThatWentBackKeepsIt() throws {
        let older = try #require(phone.server("1"))
        try phone.edit("1") { $0.title = "edited" }
        #expect(phone.syncNow().state == .idle)
        try phone.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try ext.beginFullFetch(phone.sync.zoneID, DatabaseKey(nil), .reset)
            var page = SyncPage(zoneID: phone.sync.zoneID)
            page.changed = [older]
            try phone.sync.cloudKit.runner.zoneHandler?.applyPage(transaction, ext, DatabaseKey(nil), page)
        }
        let waiting = try phone.queue()
        #expect(waiting.flatMap { $0.recordsToSave.map { Set($0.changedKeys()) } } == [["title"]])
    }
}

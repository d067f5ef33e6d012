import CloudKit
import CloudKitTesting
import System
import Testing
import Yap

@testable import YapCloudKit

/// Answers to saves whose record is gone on the server, or about which more is known by now.
@Suite struct GoneRecordTests {
    typealias Mode = YapDatabaseCloudKit.FailureHandling
    let cloud = TestCloud()

    @Test(
        "125 (both). pending changes of a record deleted here and on the server leave the queue without an error",
        arguments: Mode.allCases, YapDatabaseCloudKit.QueueStorage.allCases)
    func aSaveOfADeletedRecord(mode: Mode, storage: YapDatabaseCloudKit.QueueStorage) throws {
        let device = try HandledDevice(cloud, storage: storage, failures: mode)
        try device.uploaded(Todo(title: "a"), "1")
        device.deleteOnServer("1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.seen.errors.isEmpty)
        let known = try device.read { _, ext in
            try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
        }
        #expect(!known.hasPendingModifications && !known.hasPendingDelete)
    }

    @Test(
        "125 (both). a record recreated under the name of a deleted one is sent as a new one",
        arguments: Mode.allCases)
    func aRecreatedRecordIsSentAsANewOne(mode: Mode) throws {
        let device = try HandledDevice(cloud, failures: mode)
        try device.uploaded(Todo(title: "a"), "1")
        device.deleteOnServer("1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.remove("1")
        try device.set(Todo(title: "c"), "1")
        device.cloudKit.resume()
        device.scheduler.runUntilQuiet()
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.server("1")?["title"] == "c")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    /// An edit of a record under way, whose answer waits.
    private func editInFlight(_ change: (HandledDevice) throws -> Void) throws -> (HandledDevice, HeldAnswers)
    {
        let device = try HandledDevice(cloud, failures: .automatic)
        try device.uploaded(Todo(title: "a"), "1")
        try change(device)
        let held = HeldAnswers(cloud)
        try device.edit("1") { $0.title = "b" }
        device.scheduler.runUntilQuiet()
        #expect(held.count == 1)
        return (device, held)
    }

    private func releaseAll(_ device: HandledDevice, _ held: HeldAnswers) {
        while held.count > 0 {
            held.release()
            device.scheduler.runUntilQuiet()
        }
    }

    @Test("126. a conflict's response after a fetch of a later version reverts nothing")
    func aConflictThatAFetchOvertook() throws {
        let (device, held) = try editInFlight { device in device.changeOnServer("1") { $0["title"] = "y" } }
        try device.merge(device.changeOnServer("1") { $0["title"] = "z" })
        #expect(try device.todo("1")?.title == "z")
        releaseAll(device, held)
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.todo("1")?.title == "z")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test("126. a record that another device has made again meanwhile is not made anew by an older answer")
    func aRecordMadeAgainThatAFetchOvertook() throws {
        let (device, held) = try editInFlight { $0.deleteOnServer("1") }
        let record = CKRecord(recordType: "todo", recordID: device.id("1"))
        record["title"] = "z"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
        let tag = device.server("1")?.recordChangeTag
        try device.merge(device.server("1"))
        releaseAll(device, held)
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.todo("1")?.title == "z")
        #expect(try device.tag("1") == tag && device.server("1")?.recordChangeTag == tag)
    }

    @Test("126. a deletion is not given up for an older answer when another device has made the record again")
    func aDeletionThatAFetchOvertook() throws {
        let (device, held) = try editInFlight { $0.deleteOnServer("1") }
        try device.remove("1")
        let record = CKRecord(recordType: "todo", recordID: device.id("1"))
        record["title"] = "z"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
        try device.merge(device.server("1"))
        releaseAll(device, held)
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(device.server("1") == nil)
    }

    @Test("131. the rest of a save after a merge isn't lost with the save's response")
    func aSaveThatAFetchOvertook() throws {
        let (device, held) = try editInFlight { _ in }
        #expect(device.server("1")?["title"] == "b")
        // Another device sets what was there before.
        try device.merge(device.changeOnServer("1") { $0["title"] = "a" })
        releaseAll(device, held)
        #expect(device.cloudKit.status.state == .idle)
        #expect(try device.queue().isEmpty)
        #expect(try device.todo("1")?.title == device.server("1")?["title"])
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test(
        "132. a record made again after a deletion that is in flight: the counts say that its page has to wait"
    )
    func aRecordMadeAgainAfterADeletionInFlight() throws {
        let device = try HandledDevice(cloud, failures: .app)
        try device.uploaded(Todo(title: "a"), "1")
        let held = HeldAnswers(cloud)
        try device.remove("1")
        device.scheduler.runUntilQuiet()
        let record = CKRecord(recordType: "todo", recordID: device.id("1"))
        record["title"] = "of another device"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [record]))
        let fetched = try #require(device.server("1"))
        /// What an app's fetch does with the record; false when the page has to come later.
        func apply() throws -> Bool {
            try device.write { transaction, ext in
                let known = try ext.recordChangeTag(
                    forRecordID: fetched.recordID, databaseIdentifier: nil)
                if known.hasPendingDelete { return try ext.numberOfInFlightChangeSets() == 0 }
                try ext.attachRecord(
                    fetched, databaseIdentifier: nil, forKey: "1", inCollection: "todos",
                    shouldUploadRecord: false)
                try transaction.setObject(
                    Todo(title: "of another device"), forKey: "1", inCollection: "todos")
                return true
            }
        }
        #expect(try !apply())
        releaseAll(device, held)
        #expect(try apply())
        #expect(try device.todo("1")?.title == "of another device")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
        #expect(device.cloudKit.status.state == .idle)
    }
}

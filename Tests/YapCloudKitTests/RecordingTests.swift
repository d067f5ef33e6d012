import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

/// Local changes become change-sets. Numbers are those of the reference's scenarios.
@Suite struct RecordingTests {
    let cloud = TestCloud()

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        try HandledDevice(cloud, suspended: true, storage: form)
    }

    private let full = "done=0,priority=0,title"

    @Test("1. a first insert is one change-set with all values", arguments: forms)
    func aFirstInsertIsOneChangeSetWithAllValues(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a"), "1")
        #expect(try device.queue() == ["S1{\(full)=a}"])
        #expect(try device.contains("1"))
        #expect(try device.tag("1") == nil)
        let uuid = try device.read { _, ext in try ext.pendingChangeSets().first?.uuid }
        #expect(uuid?.isEmpty == false)
    }

    @Test("2. several rows of one transaction are one change-set", arguments: forms)
    func severalRowsOfOneTransactionAreOneChangeSet(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "c"), "3")
        try device.write { transaction, _ in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "2", inCollection: "todos")
            try transaction.removeObject(forKey: "3", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{\(full)=a} S2{\(full)=b} D3"])
    }

    @Test("3. a changed key is sent alone, with the record's tag and the original value", arguments: forms)
    func aChangedKeyIsSentAlone(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        #expect(try device.queue() == ["S1{title=b}"])
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.recordsToSave.first?.recordChangeTag != nil)
        let tag = try device.tag("1")
        #expect(changeSet.recordsToSave.first?.recordChangeTag == tag)
        #expect(changeSet.originalValues(for: device.id("1"))["title"] as? String == "a")
    }

    @Test("4. two changes in one transaction are one, with the earliest original", arguments: forms)
    func twoChangesInOneTransactionAreOne(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, _ in
            try transaction.edit("1") { $0.title = "b" }
            try transaction.edit("1") { $0.title = "c" }
        }
        #expect(try device.queue() == ["S1{title=c}"])
        let changeSet = try #require(try device.read { _, ext in try ext.pendingChangeSets().first })
        #expect(changeSet.originalValues(for: device.id("1"))["title"] as? String == "a")
    }

    @Test("5. an unchanged object queues nothing", arguments: forms)
    func anUnchangedObjectQueuesNothing(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.draft = "stays here" }
        #expect(try device.queue().isEmpty)
    }

    @Test("6. a field set to nil is sent as such and removed on the server", arguments: forms)
    func aFieldSetToNilIsRemovedOnTheServer(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a", note: "n"), "1")
        #expect(device.server("1")?.allKeys().contains("note") == true)
        try device.edit("1") { $0.note = nil }
        #expect(try device.queue() == ["S1{note=nil}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?.allKeys().contains("note") == false)
    }

    @Test("7, 8. other collections, and rows that the handler leaves out, aren't synced", arguments: forms)
    func whatTheHandlerLeavesOutIsNotSynced(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.set(Todo(title: "a"), "1", in: "local")
        #expect(device.seen.handled.isEmpty)
        device.behave { $0.skippedKeys = ["2"] }
        try device.set(Todo(title: "b"), "2")
        #expect(try device.queue().isEmpty)
        #expect(try !device.contains("2"))
        device.behave { $0.skippedKeys = [] }
        try device.edit("2") { $0.title = "c" }
        #expect(try device.queue() == ["S2{\(full)=c}"])
    }

    @Test("9. a rollback leaves no trace", arguments: forms)
    func aRollbackLeavesNoTrace(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.write { transaction, ext in
            try ext.attachRecord(
                CKRecord(recordType: "todo", recordID: device.id("9")), databaseIdentifier: nil, forKey: "9",
                inCollection: "todos", shouldUploadRecord: true)
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            transaction.rollback()
        }
        #expect(try device.queue().isEmpty)
        #expect(try !device.contains("1"))
        try device.set(Todo(title: "x"), "9")
        #expect(try device.queue() == ["S9{\(full)=x}"])
    }

    @Test("10. each commit is a change-set, in the order of the commits", arguments: forms)
    func eachCommitIsAChangeSet(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        for title in ["b", "c", "d"] { try device.edit("1") { $0.title = title } }
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}", "S1{title=d}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "d")
    }

    @Test("11. each database has its own change-set, and nil is not the empty identifier", arguments: forms)
    func eachDatabaseHasItsOwnChangeSet(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.write { transaction, ext in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "b"), forKey: "2", inCollection: "shared")
        }
        let identifiers = try device.read { _, ext in try ext.pendingChangeSets().map(\.databaseIdentifier) }
        #expect(Set(identifiers) == [nil, "public"])
        let contained = try device.read { _, ext in
            [
                try ext.containsRecordID(device.id("1"), databaseIdentifier: nil),
                try ext.containsRecordID(device.id("1"), databaseIdentifier: ""),
                try ext.containsRecordID(device.id("2"), databaseIdentifier: "public"),
            ]
        }
        #expect(contained == [true, false, true])
    }

    @Test("12. a touch calls the handler", arguments: forms, [true, false])
    func aTouchCallsTheHandler(_ form: QueueStorage, isAsked: Bool) throws {
        let device = try device(form)
        device.behave { $0.invocation = isAsked ? [.objectModified, .objectTouched] : .objectModified }
        try device.relaunch()
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.touchedPriority = 5 }
        try device.write { transaction, _ in try transaction.touchObject(forKey: "1", inCollection: "todos") }
        #expect(try device.queue() == (isAsked ? ["S1{priority=5}"] : []))
    }

    @Test("13. a change of the metadata calls only a handler that uses it", arguments: forms, [true, false])
    func onlyExtensionsThatUseMetadataGetIt(_ form: QueueStorage, isAsked: Bool) throws {
        let device = try device(form)
        device.behave { $0.invocation = isAsked ? [.objectModified, .metadataModified] : .objectModified }
        try device.relaunch()
        try device.set(Todo(title: "a"), "1")
        device.behave { $0.handled = [] }
        try device.write { transaction, _ in
            try transaction.replaceMetadata("m", forKey: "1", inCollection: "todos")
        }
        #expect(device.seen.handled == (isAsked ? ["1"] : []))
    }

    @Test("14. a row that moves to another record saves the new one and deletes the old", arguments: forms)
    func aRowMovesToAnotherRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.recordNames["1"] = "9" }
        try device.edit("1") { $0.title = "b" }
        let queue = try device.queue()
        #expect(queue == ["S9{\(full)=b} D1"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1") == nil)
        #expect(device.server("9")?["title"] == "b")
    }

    @Test(
        "15. attached without upload, then changed in the same transaction: the change is sent",
        arguments: forms)
    func skippingTheUploadIsNotSticky(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        let record = try #require(device.server("1"))
        let other = try HandledDevice(device.cloud, suspended: true)
        try other.write { transaction, ext in
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: "1", inCollection: "todos", shouldUploadRecord: false
            )
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.edit("1") { $0.title = "b" }
        }
        #expect(try other.queue() == ["S1{title=b}"])
    }
}

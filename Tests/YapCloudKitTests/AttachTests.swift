import CloudKit
import CloudKitTesting
import Testing
import Yap

@testable import YapCloudKit

/// Tying rows to records by hand, and looking records up.
@Suite struct AttachTests {
    let cloud = TestCloud()
    private let full = "done=0,priority=0,title"

    private func device(_ form: QueueStorage) throws -> HandledDevice {
        try HandledDevice(cloud, suspended: true, storage: form)
    }

    @Test(
        "43. attached before the insert, without upload: the handler isn't called and nothing is queued",
        arguments: forms)
    func attachedBeforeTheInsert(_ form: QueueStorage) throws {
        let device = try device(form)
        let record = try device.fetched("1")
        try device.write { transaction, ext in
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: "1", inCollection: "todos", shouldUploadRecord: false
            )
            try transaction.setObject(Todo(title: "r"), forKey: "1", inCollection: "todos")
        }
        #expect(device.seen.handled.isEmpty)
        #expect(try device.queue().isEmpty)
        #expect(try device.tag("1") == record.recordChangeTag)
        #expect(try device.contains("1"))
    }

    @Test("44. attached before the insert, with upload: the record's own values are sent", arguments: forms)
    func attachedBeforeTheInsertWithUpload(_ form: QueueStorage) throws {
        let device = try device(form)
        let record = CKRecord(recordType: "todo", recordID: device.id("1"))
        record["title"] = "mine"
        try device.write { transaction, ext in
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: "1", inCollection: "todos", shouldUploadRecord: true)
            try transaction.setObject(Todo(title: "other"), forKey: "1", inCollection: "todos")
        }
        #expect(try device.queue() == ["S1{title=mine}"])
    }

    @Test(
        "45, 49. attached to a row that is there; attached again, the tag is the newer one", arguments: forms)
    func attachedToARow(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.skippedKeys = ["1"] }
        try device.set(Todo(title: "r"), "1")
        #expect(try device.attach(try device.fetched("1"), "1", uploads: false))
        #expect(try device.queue().isEmpty)
        device.behave { $0.skippedKeys = [] }
        let newer = try #require(device.changeOnServer("1") { $0["priority"] = 0 })
        #expect(try device.attach(newer, "1", uploads: false))
        #expect(try device.tag("1") == newer.recordChangeTag)
        try device.edit("1") { $0.title = "s" }
        #expect(try device.queue() == ["S1{title=s}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "s")
    }

    @Test("46. a row of another record must be detached first", arguments: forms)
    func aRowOfAnotherRecordMustBeDetachedFirst(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        let other = CKRecord(recordType: "todo", recordID: device.id("9"))
        #expect(try !device.attach(other, "1", uploads: true))
        #expect(try device.contains("1"))
        try device.detach("1", isDeleted: false)
        #expect(try device.attach(other, "1", uploads: true))
    }

    @Test(
        "47, 48. an attachment without an insert is forgotten, and so is one that is detached",
        arguments: forms)
    func anAttachmentWithoutAnInsertIsForgotten(_ form: QueueStorage) throws {
        let device = try device(form)
        let record = try device.fetched("1")
        #expect(try device.attach(record, "1", uploads: false))
        try device.write { transaction, ext in
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: "2", inCollection: "todos", shouldUploadRecord: false
            )
            try ext.detachRecord(
                forKey: "2", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: true)
            try transaction.setObject(Todo(title: "b"), forKey: "2", inCollection: "todos")
        }
        try device.set(Todo(title: "a"), "1")
        #expect(device.seen.handled == ["2", "1"])
        #expect(try device.queue() == ["S2{\(full)=b}", "S1{\(full)=a}"])
    }

    @Test(
        "50, 51, 52. detaching, with and without a deletion on the server", arguments: forms, [true, false])
    func detaching(_ form: QueueStorage, isDeleted: Bool) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.detach("1", isDeleted: isDeleted)
        try device.detach("1", isDeleted: isDeleted)
        try device.detach("none", isDeleted: isDeleted)
        #expect(try device.queue() == (isDeleted ? ["D1"] : []))
        #expect(try device.todo("1") != nil)
        #expect(try !device.contains("1"))
        device.upload()
        #expect((device.server("1") == nil) == isDeleted)
        device.behave { $0.handled = [] }
        try device.edit("1") { $0.title = "b" }
        #expect(device.seen.handled == ["1"])
    }

    @Test("53, 54. two rows of one record: one save, and a deletion when both are deleted", arguments: forms)
    func twoRowsOfOneRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["1": "R", "2": "R"] }
        try device.set(Todo(title: "a"), "1")
        device.upload()
        device.cloudKit.suspend()
        let record = try #require(device.server("R"))
        device.behave { $0.skippedKeys = ["2"] }
        try device.set(Todo(title: "a"), "2")
        device.behave { $0.skippedKeys = [] }
        #expect(try device.attach(record, "2", uploads: false))
        let keys = try device.read { _, ext in
            try ext.collectionKeys(forRecordID: device.id("R"), databaseIdentifier: nil).map(\.key)
        }
        #expect(keys == ["1", "2"])
        try device.write { transaction, _ in
            try transaction.edit("1") { $0.title = "b" }
            try transaction.edit("2") { $0.priority = 4 }
        }
        #expect(try device.queue() == ["SR{priority=4,title=b}"])
        device.upload()
        device.cloudKit.suspend()
        try device.remove("1")
        #expect(try device.queue().isEmpty)
        try device.remove("2")
        #expect(try device.queue() == ["DR"])
    }

    @Test(
        "55. the record stays on the server only if every owner requested that", arguments: [true, false],
        [true, false])
    func everyOwnerHasToAsk(isSecondDeleted: Bool, isDeletedFirst: Bool) throws {
        let device = try device(.keysOnly)
        device.behave { $0.recordNames = ["1": "R", "2": "R"] }
        try device.write { transaction, _ in
            try transaction.setObject(Todo(title: "a"), forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "a"), forKey: "2", inCollection: "todos")
        }
        device.upload()
        device.cloudKit.suspend()
        let keys = isDeletedFirst ? ["2", "1"] : ["1", "2"]
        try device.write { transaction, ext in
            for key in keys {
                if key == "2", isSecondDeleted {
                    try transaction.removeObject(forKey: key, inCollection: "todos")
                } else {
                    try ext.detachRecord(
                        forKey: key, inCollection: "todos", wasRemoteDeletion: false,
                        shouldUploadDeletion: false)
                }
            }
        }
        #expect(try device.queue() == (isSecondDeleted ? ["DR"] : []))
    }

    @Test("56. saving a record by hand", arguments: forms)
    func savingARecordByHand(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, ext in
            let known = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            #expect(try ext.saveRecord(known, databaseIdentifier: nil))
            #expect(try !ext.saveRecord(known, databaseIdentifier: "public"))
            let unknown = CKRecord(recordType: "todo", recordID: device.id("9"))
            #expect(try !ext.saveRecord(unknown, databaseIdentifier: nil))
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            #expect(try !ext.saveRecord(known, databaseIdentifier: nil))
            transaction.rollback()
        }
        #expect(try device.queue().isEmpty)
    }

    @Test(
        "57. a looked-up record is a copy: system fields, and this transaction's changes", arguments: forms
    )
    func aLookedUpRecordIsACopy(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        let base = try #require(
            try device.read { _, ext in try ext.record(forKey: "1", inCollection: "todos") })
        #expect(base.allKeys().isEmpty)
        #expect(base.recordChangeTag != nil)
        try device.write { transaction, ext in
            try transaction.edit("1") { $0.title = "b" }
            let record = try #require(try ext.record(forRecordID: device.id("1"), databaseIdentifier: nil))
            #expect(record["title"] == "b")
            record["title"] = "changed in the copy"
        }
        #expect(try device.queue() == ["S1{title=b}"])
    }

    @Test(
        "58, 60, 117. lookups see this transaction's changes, and others only committed ones",
        arguments: forms)
    func lookupsSeeWhatThisTransactionDid(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        let other = device.database.newConnection()
        func flags(_ ext: HandledDevice.Ext) throws -> [Bool] {
            let state = try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
            return [state.recordChangeTag != nil, state.hasPendingModifications, state.hasPendingDelete]
        }
        #expect(try device.read { _, ext in try flags(ext) } == [true, false, false])
        try device.write { transaction, ext in
            try transaction.edit("1") { $0.title = "b" }
            #expect(try flags(ext) == [true, true, false])
            let seen = try other.blocking.read { try flags($0.ext("ck", as: YapDatabaseCloudKit.self)) }
            #expect(seen == [true, false, false])
        }
        #expect(try device.read { _, ext in try flags(ext) } == [true, true, false])
        try device.remove("1")
        #expect(
            try other.blocking.read { try flags($0.ext("ck", as: YapDatabaseCloudKit.self)) } == [
                false, true, true,
            ])
    }

    @Test("59. a call that writes is refused in a transaction that reads", arguments: forms)
    func aCallThatWritesIsRefusedInARead(_ form: QueueStorage) throws {
        let device = try device(form)
        #expect(throws: YapDatabaseCloudKitError.readOnlyTransaction) {
            try device.read { _, ext in
                try ext.saveRecord(
                    CKRecord(recordType: "todo", recordID: device.id("1")), databaseIdentifier: nil)
            }
        }
    }

    @Test(
        "53. one of two rows is found by the record, both are owners, and the other stays one",
        arguments: forms)
    func ownersAreFoundByTheRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["1": "R", "2": "R"] }
        try device.set(Todo(title: "a"), "1")
        try device.set(Todo(title: "a"), "2")
        let key = try device.read { _, ext in
            try ext.getKey(forRecordID: device.id("R"), databaseIdentifier: nil)
        }
        #expect(key?.collection == "todos")
        #expect(["1", "2"].contains(key?.key))
        let found = try device.read { _, ext in try ext.recordID(forKey: "2", inCollection: "todos") }
        #expect(found?.recordID == device.id("R"))
        #expect(found?.databaseIdentifier == nil)
        #expect(
            try device.read { _, ext in
                try ext.tables.records.liveRecord(device.id("R"), DatabaseKey(nil))?.ownerCount
            } == 2)
        try device.remove("1")
        #expect(try device.contains("R"))
    }

    @Test("54. a row that joins a record without a change uploads nothing", arguments: forms)
    func aRowThatJoinsWithoutAChange(_ form: QueueStorage) throws {
        let device = try device(form)
        device.behave { $0.recordNames = ["1": "R"] }
        try device.uploaded(Todo(title: "a"), "1")
        let base = try #require(
            try device.read { _, ext in try ext.record(forKey: "1", inCollection: "todos") })
        try device.write { transaction, ext in
            try ext.attachRecord(
                base, databaseIdentifier: nil, forKey: "2", inCollection: "todos", shouldUploadRecord: true)
            try transaction.setObject(Todo(title: "a"), forKey: "2", inCollection: "todos")
        }
        #expect(try device.queue().isEmpty)
        #expect(try device.read { _, ext in try ext.numberOfPendingChangeSets() } == 0)
    }

    @Test("56. a known record's given keys are saved, and no others", arguments: forms)
    func aKnownRecordsGivenKeysAreSaved(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { _, ext in
            let record = try #require(try ext.record(forKey: "1", inCollection: "todos"))
            record["title"] = "by hand"
            #expect(try ext.saveRecord(record, databaseIdentifier: nil))
        }
        #expect(try device.queue() == ["S1{title=by hand}"])
        try device.relaunch()
        #expect(try device.queue() == ["S1{title=by hand}"], "the row says otherwise")
    }

    @Test("58. the flags of a record that was deleted", arguments: forms)
    func theFlagsOfADeletedRecord(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        try device.write { transaction, ext in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            let state = try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
            #expect(state == (recordChangeTag: nil, hasPendingModifications: false, hasPendingDelete: true))
        }
        let state = try device.read { _, ext in
            try ext.recordChangeTag(forRecordID: device.id("1"), databaseIdentifier: nil)
        }
        #expect(state == (recordChangeTag: nil, hasPendingModifications: false, hasPendingDelete: true))
    }

    @Test(
        "60. a transaction sees its attached and detached rows; others see them after the commit",
        arguments: forms)
    func whatWasAttachedIsSeen(_ form: QueueStorage) throws {
        let device = try device(form)
        try device.uploaded(Todo(title: "a"), "1")
        device.behave { $0.skippedKeys = ["2"] }
        try device.set(Todo(title: "b"), "2")
        let other = device.database.newConnection()
        func contained(_ ext: HandledDevice.Ext) throws -> [Bool] {
            try ["1", "9"].map { try ext.containsRecordID(device.id($0), databaseIdentifier: nil) }
        }
        try device.write { _, ext in
            try ext.attachRecord(
                CKRecord(recordType: "todo", recordID: device.id("9")), databaseIdentifier: nil, forKey: "2",
                inCollection: "todos", shouldUploadRecord: false)
            try ext.detachRecord(
                forKey: "1", inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: false)
            #expect(try contained(ext) == [false, true])
            let seen = try other.blocking.read { try contained($0.ext("ck", as: YapDatabaseCloudKit.self)) }
            #expect(seen == [true, false])
        }
        let seen = try other.blocking.read { try contained($0.ext("ck", as: YapDatabaseCloudKit.self)) }
        #expect(seen == [false, true])
    }
}

/// Rules of a relationship where the app fetches by itself.
extension AttachTests {
    @Test func anAppWithItsOwnFetchIsProtectedToo() throws {
        let device = try HandledDevice(cloud, suspended: true)
        let family = YapDatabaseRelationship("family", version: "1") {
            $0.edge(
                "parent", \Todo.note, in: "todos", to: "todos", rules: .deleteSourceIfDestinationDeleted)
        }
        try device.database.blocking.register(family)
        func fetch(_ key: String, _ todo: Todo) throws {
            let record = try device.fetched(key)
            try device.write { transaction, ext in
                try ext.attachRecord(
                    record, databaseIdentifier: nil, forKey: key, inCollection: "todos",
                    shouldUploadRecord: false)
                try transaction.setObject(todo, forKey: key, inCollection: "todos")
            }
        }
        func keys() throws -> [String] {
            try device.database.newConnection().blocking.read {
                try $0.allKeys(inCollection: "todos").sorted()
            }
        }
        try fetch("child", Todo(note: "parent"))
        #expect(try keys() == ["child"])
        try fetch("parent", Todo())
        try device.write { transaction, ext in
            try ext.detachRecord(
                forKey: "parent", inCollection: "todos", wasRemoteDeletion: true, shouldUploadDeletion: false)
            try transaction.removeObject(forKey: "parent", inCollection: "todos")
        }
        #expect(try keys() == [])
        // What it writes itself follows the rules.
        try device.write { transaction, _ in
            try transaction.setObject(Todo(note: "nobody"), forKey: "own", inCollection: "todos")
        }
        #expect(try keys() == [])
    }

    @Test(arguments: [false, true])
    func rulesThatWaitDoNotFireBeforeEverythingIsFetchedAgain(isZoneGone: Bool) throws {
        let device = try HandledDevice(cloud, suspended: true)
        let family = YapDatabaseRelationship("family", version: "1") {
            $0.edge(
                "uses", \Todo.note, in: "todos", to: "todos", rules: .deleteDestinationIfAllSourcesDeleted)
        }
        try device.database.blocking.register(family)
        func setToken(_ text: String?, moreComing: Bool? = nil) throws {
            try device.write { _, ext in
                try ext.setToken(
                    text.map { CKServerChangeToken(token: $0) }, forZone: HandledDevice.zoneID,
                    databaseIdentifier: nil, moreComing: moreComing)
            }
        }
        func keys() throws -> [String] {
            try device.database.newConnection().blocking.read { try $0.allKeys(inCollection: "todos") }
        }
        try setToken("first", moreComing: true)
        try device.write { transaction, _ in
            try transaction.setObject(Todo(), forKey: "to", inCollection: "todos")
            try transaction.setObject(Todo(note: "to"), forKey: "from", inCollection: "todos")
        }
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "from", inCollection: "todos")
        }
        #expect(try keys() == ["to"])
        try setToken(nil)
        #expect(try keys() == ["to"])
        if isZoneGone {
            try setToken(nil, moreComing: false)
            #expect(try keys() == [])
            return
        }
        try setToken("again", moreComing: true)
        #expect(try keys() == ["to"])
        try setToken("last")
        #expect(try keys() == [])
    }
}

extension HandledDevice {
    /// A record that another device has put on the server.
    fileprivate func fetched(_ name: String, title: String = "r") throws -> CKRecord {
        let record = CKRecord(recordType: "todo", recordID: id(name))
        record["title"] = title
        let other = cloud.device(user: "ada").container.privateCloudDatabase
        other.add(CKModifyRecordsOperation(recordsToSave: [record]))
        return try #require(server(name))
    }

    @discardableResult
    fileprivate func attach(_ record: CKRecord, _ key: String, uploads: Bool) throws -> Bool {
        try write { _, ext in
            try ext.attachRecord(
                record, databaseIdentifier: nil, forKey: key, inCollection: "todos",
                shouldUploadRecord: uploads)
        }
    }

    fileprivate func detach(_ key: String, isDeleted: Bool) throws {
        try write { _, ext in
            try ext.detachRecord(
                forKey: key, inCollection: "todos", wasRemoteDeletion: false, shouldUploadDeletion: isDeleted)
        }
    }
}

import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Remote changes and merges, as `CloudSync` does them: the scenarios of the extension, with nothing left to the app.
@Suite struct CloudSyncMergeTests {
    let cloud = TestCloud()
    let phone: SyncedDevice

    init() throws {
        phone = try SyncedDevice(cloud)
        try phone.set(Todo(title: "a", note: "n"), "1")
        phone.syncNow()
    }

    /// What another device does to the record.
    private func remote(_ key: String = "1", _ change: (CKRecord) -> Void) throws {
        let record = try #require(phone.server(key))
        change(record)
        other.add(CKModifyRecordsOperation(recordsToSave: [record]))
    }

    private func remoteDeletion(_ key: String = "1") {
        let recordID = CKRecord.ID(recordName: key, zoneID: phone.sync.zoneID)
        other.add(CKModifyRecordsOperation(recordIDsToDelete: [recordID]))
    }

    private var other: CKDatabase { cloud.device(user: "ada").container.privateCloudDatabase }

    /// The queue in short: "title=b (was a)" for a saved field, "deletion" for a deletion, one text a change-set.
    private func queue() throws -> [String] {
        try phone.queue().map { changeSet in
            let saves = changeSet.recordsToSave.flatMap { record in
                let originals = changeSet.originalValues(for: record.recordID)
                return record.changedKeys().sorted().map { key in
                    let value = record.object(forKey: key).map { "\($0)" } ?? "nil"
                    return "\(key)=\(value)"
                        + (originals[key].map { " was \($0.map { "\($0)" } ?? "nil")" } ?? "")
                }
            }
            return (saves + changeSet.recordIDsToDelete.map { _ in "deletion" }).joined(separator: ", ")
        }
    }

    /// Fetches and merges, and sends nothing.
    private func fetchOnly() {
        phone.sync.suspend()
        phone.syncNow()
    }

    private func sendAll() {
        while phone.sync.cloudKit.suspendCount > 0 { phone.sync.resume() }
        #expect(phone.syncNow().state == .idle)
    }

    @Test("62. a remote change with nothing pending is taken over, and queues nothing")
    func aRemoteChangeWithNothingPending() throws {
        try remote { $0["title"] = "z" }
        let sent = cloud.requestCount(.modifyRecords)
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todo("1") == Todo(title: "z", note: "n"))
        #expect(try queue() == [])
        #expect(cloud.requestCount(.modifyRecords) == sent)
        #expect(phone.rules == [])
    }

    @Test("63. after a remote change and a relaunch a local change is sent on the new tag, at once")
    func aLocalChangeAfterARelaunch() throws {
        try remote { $0["title"] = "z" }
        phone.syncNow()
        try phone.relaunch()
        try phone.edit("1") { $0.isDone = true }
        let sent = cloud.requestCount(.modifyRecords)
        #expect(phone.syncNow().state == .idle)
        #expect(cloud.requestCount(.modifyRecords) == sent + 1)
        #expect(phone.server("1")?["title"] == "z" && phone.server("1")?["done"] == true)
    }

    @Test("64. disjoint fields are both kept, and the local one keeps its original")
    func disjointFields() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.isDone = true }
        try remote { $0["title"] = "z" }
        fetchOnly()
        #expect(try phone.todo("1") == Todo(title: "z", isDone: true, note: "n"))
        #expect(try queue() == ["done=1 was 0"])
        sendAll()
        #expect(phone.server("1")?["done"] == true)
    }

    @Test("65. of two changes of a field the remote one wins, and nothing is sent")
    func ofTwoChangesTheRemoteOneStands() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try remote { $0["title"] = "z" }
        let sent = cloud.requestCount(.modifyRecords)
        fetchOnly()
        #expect(try queue() == [])
        sendAll()
        #expect(try phone.todo("1")?.title == "z")
        #expect(cloud.requestCount(.modifyRecords) == sent)
        #expect(phone.rules == [.remoteWon])
    }

    @Test("66. fields changed only by this device are kept, for any other changes")
    func whatOnlyThisDeviceChanged() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try remote { $0["note"] = "other" }
        fetchOnly()
        #expect(try queue() == ["title=b was a"])
        sendAll()
        #expect(phone.server("1")?["title"] == "b" && phone.server("1")?["note"] == "other")
    }

    @Test("67, 69. a field's own rule, and a second remote change that is judged by the first")
    func aFieldsOwnRuleTwice() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.priority = 5 }
        try remote { $0["priority"] = 3 }
        fetchOnly()
        #expect(try queue() == ["priority=5 was 3"])
        try remote { $0["title"] = "z" }
        fetchOnly()
        #expect(try queue() == ["priority=5 was 3"])
        try remote { $0["priority"] = 9 }
        fetchOnly()
        #expect(try phone.todo("1")?.priority == 9)
        #expect(try queue() == [])
        sendAll()
    }

    @Test("68. of several queued values of a field the last one is sent")
    func severalQueuedValues() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try phone.edit("1") {
            $0.title = "c"
            $0.isDone = true
        }
        try remote { $0["priority"] = 2 }
        fetchOnly()
        #expect(try queue() == ["done=1 was 0, title=c was a"])
        sendAll()
        #expect(phone.server("1")?["title"] == "c")
        #expect(phone.rules == [.superseded])
        #expect(phone.log.withLock { $0 }.map(\.description) == [#"1.title: superseded, "b" became "c""#])
    }

    @Test("72. two remote changes, fetched one after the other, end with the newest")
    func twoRemoteChanges() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.isDone = true }
        for title in ["y", "z"] {
            try remote { $0["title"] = title }
            fetchOnly()
        }
        #expect(try queue() == ["done=1 was 0"])
        let sent = cloud.requestCount(.modifyRecords)
        sendAll()
        #expect(cloud.requestCount(.modifyRecords) == sent + 1)
        #expect(phone.server("1")?["title"] == "z")
    }

    @Test(
        "73, 85. changed and deleted here while another device edits: the edit wins, and the queue drains")
    func changedAndDeletedHere() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try phone.remove("1")
        try remote { $0["title"] = "z" }
        fetchOnly()
        #expect(try phone.todo("1")?.title == "z")
        #expect(try queue() == [])
        sendAll()
        #expect(phone.server("1")?["title"] == "z")
        #expect(phone.rules.contains(.deletionDropped))
    }

    @Test("76. a merge during a save whose response is lost")
    func aMergeWhileASaveIsUnderWay() throws {
        try phone.edit("1") { $0.title = "b" }
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        phone.syncNow()
        cloud.networkFault = nil
        try remote { $0["note"] = "other" }
        cloud.clock.advance(bySeconds: 400)
        sendAll()
        #expect(try phone.todo("1") == Todo(title: "b", note: "other"))
        #expect(phone.server("1")?["title"] == "b")
        #expect(phone.rules == [])
    }

    @Test("77, 81. a deletion that waits meets the other device's deletion: nothing is left to do")
    func aDeletionMeetsADeletion() throws {
        phone.sync.suspend()
        try phone.remove("1")
        remoteDeletion()
        fetchOnly()
        #expect(try queue() == [])
        sendAll()
        #expect(try phone.todos().isEmpty)
    }

    @Test("78. a field that another device removed is nil here")
    func aFieldThatAnotherDeviceRemoved() throws {
        try remote { $0["note"] = nil }
        phone.syncNow()
        #expect(try phone.todo("1") == Todo(title: "a"))
        #expect(try queue() == [])
    }

    @Test("79. a remote deletion takes the row away, and no deletion is sent")
    func aRemoteDeletion() throws {
        remoteDeletion()
        let sent = cloud.requestCount(.modifyRecords)
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todos().isEmpty)
        #expect(cloud.requestCount(.modifyRecords) == sent)
    }

    @Test("80. a remote deletion while edits wait: the edits stand, the record is made again, whole")
    func aRemoteDeletionWhileEditsWait() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try phone.edit("1") { $0.isDone = true }
        remoteDeletion()
        fetchOnly()
        #expect(try queue().count == 1)
        sendAll()
        #expect(phone.server("1")?["title"] == "b" && phone.server("1")?["note"] == "n")
        #expect(phone.rules.contains(.editBeatDeletion))
    }

    @Test("82. a remote deletion of a record changed and then deleted here empties the queue")
    func aRemoteDeletionOfWhatWasChangedAndDeletedHere() throws {
        phone.sync.suspend()
        try phone.edit("1") { $0.title = "b" }
        try phone.remove("1")
        remoteDeletion()
        fetchOnly()
        #expect(try queue() == [])
        sendAll()
        #expect(phone.server("1") == nil)
    }

    @Test("84. deleted by another device and recreated here: the whole new record is sent")
    func deletedThereAndMadeAgainHere() throws {
        remoteDeletion()
        phone.syncNow()
        try phone.set(Todo(title: "again"), "1")
        #expect(phone.syncNow().state == .idle)
        #expect(phone.server("1")?["title"] == "again")
        #expect(phone.server("1")?["note"] == nil as String?)
    }

    @Test("87. a page that can't be written leaves neither rows nor token, and is fetched again")
    func aPageAndItsToken() throws {
        try remote { $0["title"] = "z" }
        let before = try token()
        cloud.networkFault = { $0.path.hasSuffix("changes/zone") ? .loseReply : .none }
        phone.syncNow()
        #expect(try token() == before)
        #expect(try phone.todo("1")?.title == "a")
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 400)
        #expect(phone.syncNow().state == .idle)
        #expect(try token() != before)
        #expect(try phone.todo("1")?.title == "z")
    }

    private func token() throws -> String? {
        try phone.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .tables.tokens.token(phone.sync.zoneID, DatabaseKey(nil))
        }
    }

    @Test("88. many pages, the first of which may be empty, are all fetched")
    func manyPages() throws {
        let zoneID = phone.sync.zoneID
        for start in stride(from: 0, to: 900, by: 300) {
            let records = (start..<start + 300).map { number in
                let record = CKRecord(
                    recordType: "todo", recordID: CKRecord.ID(recordName: "r\(number)", zoneID: zoneID))
                record["title"] = "\(number)"
                return record
            }
            other.add(CKModifyRecordsOperation(recordsToSave: records))
        }
        let fetches = cloud.requestCount(.fetchRecordZoneChanges)
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todos().count == 901)
        #expect(cloud.requestCount(.fetchRecordZoneChanges) > fetches + 1)
    }
}

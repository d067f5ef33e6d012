import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// Two devices of one user with `CloudSync`.
@Suite struct TwoDevicesTests {
    let cloud = TestCloud()
    let phone: SyncedDevice
    let laptop: SyncedDevice

    init() throws {
        phone = try SyncedDevice(cloud)
        laptop = try SyncedDevice(cloud)
    }

    /// Both sync until both have seen everything; then they are equal, nothing waits, and one more sync sends nothing.
    private func settle(_ comment: Comment? = nil) throws {
        for device in [phone, laptop, phone, laptop] {
            #expect(device.syncNow().state == .idle, comment)
        }
        #expect(try phone.todos() == laptop.todos(), comment)
        #expect(try phone.queue().isEmpty && laptop.queue().isEmpty, comment)
        let sent = cloud.requestCount(.modifyRecords)
        for device in [phone, laptop] { device.syncNow() }
        #expect(cloud.requestCount(.modifyRecords) == sent, comment)
    }

    private func start(_ todo: Todo = Todo(title: "eggs", note: "six")) throws {
        try phone.set(todo, "1")
        try settle()
    }

    @Test func whatOneDeviceWritesTheOtherGets() throws {
        try phone.set(Todo(title: "eggs", priority: 2, note: "six"), "1")
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.queue().isEmpty)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.todo("1") == Todo(title: "eggs", priority: 2, note: "six"))
        #expect(try laptop.queue().isEmpty)
        try settle()
    }

    @Test("165. a server that was put back has lost nothing of a record that was never sent")
    func anUnsentRecordMeetsOneOfItsNameAfterAReset() throws {
        #expect(laptop.syncNow().state == .idle)
        try phone.set(Todo(title: "phone", note: "six"), "1")
        #expect(phone.syncNow().state == .idle)
        try laptop.set(Todo(title: "laptop"), "1")
        try laptop.beginReset()
        try settle()
        #expect(try phone.todo("1") == Todo(title: "phone", note: "six"))
        #expect(laptop.rules.contains(.remoteWon) && !laptop.rules.contains(.serverWasReset))
    }

    @Test("61. an own change that is fetched changes nothing")
    func anOwnChangeThatComesBack() throws {
        try start()
        let snapshot = phone.database.snapshot
        try phone.edit("1") { $0.draft = "only here" }
        phone.syncNow()
        #expect(try phone.todo("1")?.draft == "only here")
        #expect(phone.log.withLock { $0 }.isEmpty)
        #expect(phone.database.snapshot > snapshot)
    }

    @Test func changesOfDifferentFieldsBothStand() throws {
        try start()
        try phone.edit("1") { $0.title = "bread" }
        try laptop.edit("1") { $0.isDone = true }
        try settle()
        #expect(try phone.todo("1") == Todo(title: "bread", isDone: true, note: "six"))
    }

    @Test func ofTwoChangesOfOneFieldTheFirstOnTheServerStandsAndTheOtherIsLogged() throws {
        try start()
        try phone.edit("1") { $0.title = "bread" }
        try laptop.edit("1") { $0.title = "milk" }
        try settle()
        #expect(try phone.todo("1")?.title == "bread")
        let entry = try #require(laptop.log.withLock { $0 }.first)
        #expect(entry.rule == .remoteWon)
        #expect(entry.field == "title")
        #expect(entry.kind == .lost)
        #expect(entry.replacedValue == MergeLogValue(.string("milk")))
        #expect(entry.keptValue == MergeLogValue(.string("bread")))
    }

    @Test func anOwnValueWhoseAnswerWasLostDoesNotBeatALaterOne() throws {
        try start()
        try phone.edit("1") { $0.title = "bread" }
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        phone.syncNow()
        try phone.edit("1") { $0.title = "milk" }
        cloud.networkFault = nil
        try phone.relaunch()
        try settle()
        #expect(try phone.todo("1")?.title == "milk")
        #expect(try laptop.todo("1")?.title == "milk")
    }

    @Test func anOwnNewRecordWhoseAnswerWasLostDoesNotBeatALaterEdit() throws {
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        try phone.set(Todo(title: "bread", note: "six"), "1")
        phone.syncNow()
        try phone.edit("1") { $0.title = "milk" }
        cloud.networkFault = nil
        try phone.relaunch()
        try settle()
        #expect(try laptop.todo("1")?.title == "milk")
    }

    @Test func aRecordMadeAgainInTheCommitThatDeletedItIsAChangeOfWhatItWas() throws {
        try start()
        try phone.write { transaction in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "again", note: "six"), forKey: "1", inCollection: "todos")
        }
        try laptop.edit("1") { $0.isDone = true }
        laptop.syncNow()
        try settle()
        #expect(try phone.todo("1")?.title == "again")
        #expect(try phone.todo("1")?.isDone == true)
    }

    @Test("168. an edit beats a deletion also where the record was made again in a later commit")
    func aRecordMadeAgainAfterTheCommitThatDeletedItIsAChangeOfWhatItWas() throws {
        try start()
        try phone.edit("1") { $0.title = "never sent" }
        try phone.remove("1")
        try phone.set(Todo(title: "again", note: "six"), "1")
        try laptop.edit("1") { $0.isDone = true }
        laptop.syncNow()
        try settle()
        #expect(try phone.todo("1") == Todo(title: "again", isDone: true, note: "six"))
        #expect(phone.rules.contains(.deletionDropped))
    }

    @Test("168. also where the edits that were never sent were folded into the deletion")
    func aRecordMadeAgainOfAFoldingDeviceIsAChangeOfWhatTheServerHad() throws {
        let tablet = try SyncedDevice(cloud, folds: true)
        try start()
        tablet.syncNow()
        tablet.sync.suspend()
        try tablet.edit("1") { $0.title = "never sent" }
        try tablet.remove("1")
        try tablet.set(Todo(title: "again", note: "six"), "1")
        try laptop.edit("1") { $0.isDone = true }
        laptop.syncNow()
        tablet.sync.resume()
        #expect(tablet.syncNow().state == .idle)
        try settle()
        #expect(try phone.todo("1") == Todo(title: "again", isDone: true, note: "six"))
    }

    @Test("168. fields that the recreated record lacks are removed, unless another device set them")
    func whatTheRecordMadeAgainLacksIsTakenAway() throws {
        try start(Todo(title: "eggs", priority: 4, note: "six"))
        try phone.remove("1")
        try phone.set(Todo(title: "eggs"), "1")
        try laptop.edit("1") { $0.priority = 9 }
        laptop.syncNow()
        try settle()
        #expect(try laptop.todo("1") == Todo(title: "eggs", priority: 9))
    }

    @Test("176. another device's edit beats a deletion also where everything is fetched after a reset")
    func anEditBeatsWhatWasDeletedAndMadeAgainBeforeAReset() throws {
        try start()
        try phone.edit("1") { $0.title = "never sent" }
        try phone.remove("1")
        try phone.set(Todo(title: "again", note: "six"), "1")
        cloud.clock.advance(bySeconds: 1)
        try laptop.edit("1") { $0.title = "milk" }
        laptop.syncNow()
        try phone.beginReset()
        try settle()
        #expect(try phone.todo("1") == Todo(title: "milk", note: "six"))
        #expect(phone.rules.contains(.deletionDropped) && phone.rules.contains(.remoteWon))
    }

    @Test("176. also if the deleted record was never sent")
    func anotherDevicesRecordBeatsWhatWasNeverSentAfterAReset() throws {
        #expect(laptop.syncNow().state == .idle)
        try phone.set(Todo(title: "phone", note: "six"), "1")
        #expect(phone.syncNow().state == .idle)
        laptop.sync.suspend()
        try laptop.set(Todo(title: "first"), "1")
        try laptop.remove("1")
        try laptop.set(Todo(title: "second"), "1")
        try laptop.beginReset()
        laptop.sync.resume()
        let versions = cloud.requestCount(.modifyRecords)
        try settle()
        #expect(cloud.requestCount(.modifyRecords) == versions)
        #expect(try phone.todo("1") == Todo(title: "phone", note: "six"))
        #expect(laptop.rules.contains(.deletionDropped) && laptop.rules.contains(.remoteWon))
    }

    @Test("169. an edit of a field that this version doesn't know beats its deletion")
    func anEditOfAnUnknownFieldBeatsADeletion() throws {
        try start()
        try phone.remove("1")
        let record = try #require(laptop.server("1"))
        record["color"] = "red"
        laptop.device.container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
        try settle()
        #expect(try phone.todo("1")?.title == "eggs")
        #expect(phone.rules.contains(.deletionDropped))
        #expect(phone.server("1")?["color"] as? String == "red")
    }

    @Test("170. a record whose making was not answered stays deleted when another device deletes it")
    func aNewRecordWhoseAnswerWasLostStaysDeleted() throws {
        laptop.syncNow()
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        try phone.set(Todo(title: "eggs"), "1")
        phone.syncNow()
        cloud.networkFault = nil
        laptop.syncNow()
        try laptop.remove("1")
        laptop.syncNow()
        phone.sync.networkMayBeBack()
        try settle()
        #expect(try phone.todos().isEmpty)
    }

    @Test("170. also when the device's process ended before the answer")
    func aNewRecordWhoseProcessEndedStaysDeleted() throws {
        laptop.syncNow()
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        try phone.set(Todo(title: "eggs"), "1")
        phone.syncNow()
        cloud.networkFault = nil
        laptop.syncNow()
        try laptop.remove("1")
        laptop.syncNow()
        try phone.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            let sequence = try #require(
                try ext.tables.queue.head(DatabaseKey(nil), itemsMax: 1).first?.sequence)
            try ext.writing { _ in try ext.tables.queue.setInFlight(sequence, true) }
        }
        try phone.relaunch()
        try settle()
        #expect(try phone.todos().isEmpty)
    }

    @Test(
        "171. after a server's restore, the log has the lost values that another device's edit replaced"
    )
    func whatARestoredServerLostIsInTheLog() throws {
        try start()
        let record = try #require(laptop.server("1"))
        record["note"] = "seven"
        record["title"] = "older"
        cloud.clock.advance(bySeconds: 1)
        laptop.device.container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
        try phone.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try ext.beginFullFetch(phone.sync.zoneID, DatabaseKey(nil), .reset)
        }
        try settle()
        #expect(try phone.todo("1")?.title == "older")
        let lost = phone.log.withLock { $0 }.filter { $0.rule == .serverWasReset }
        #expect(lost.map(\.dropped) == ["six", "eggs"] && lost.map(\.kept) == ["seven", "older"])
        #expect(lost.map(\.kind) == [.lost, .lost])
    }

    @Test("172. a token that runs out while a server that was put back is fetched anew deletes nothing")
    func aTokenThatRunsOutDuringAResetDeletesNothing() throws {
        try start()
        try phone.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            for refusal in [FullFetchReason.reset, .expired] {
                try ext.beginFullFetch(phone.sync.zoneID, DatabaseKey(nil), refusal)
            }
            #expect(try ext.tables.tokens.fullFetch(phone.sync.zoneID, DatabaseKey(nil)) == .reset)
        }
        let operation = CKModifyRecordsOperation(
            recordIDsToDelete: [CKRecord.ID(recordName: "1", zoneID: laptop.sync.zoneID)])
        laptop.device.container.privateCloudDatabase.add(operation)
        #expect(phone.syncNow().state == .idle)
        #expect(try phone.todo("1")?.title == "eggs")
    }

    @Test func anEditBeatsEveryDeletionThatWaits() throws {
        try start()
        try phone.remove("1")
        try phone.set(Todo(title: "again", note: "six"), "1")
        try phone.remove("1")
        try laptop.edit("1") { $0.title = "bread" }
        laptop.syncNow()
        phone.syncNow()
        #expect(try phone.todo("1")?.title == "bread")
        #expect(try phone.queue().isEmpty)
        try settle()
        #expect(try laptop.todo("1")?.title == "bread")
    }

    @Test func aFieldsOwnRuleMakesOneValueOfBoth() throws {
        try start()
        try phone.edit("1") { $0.priority = 3 }
        try laptop.edit("1") { $0.priority = 8 }
        try settle()
        #expect(try phone.todo("1")?.priority == 8)
        try phone.edit("1") { $0.priority = 5 }
        try laptop.edit("1") { $0.priority = 1 }
        try settle()
        #expect(try phone.todo("1")?.priority == 5)
    }

    @Test func anEditBeatsAFetchedDeletion() throws {
        try start()
        try phone.remove("1")
        try laptop.edit("1") { $0.title = "bread" }
        try settle()
        #expect(try phone.todo("1")?.title == "bread")
        #expect(laptop.rules.contains(.editBeatDeletion))
    }

    @Test func anEditBeatsADeletionThatWaits() throws {
        try start()
        try phone.remove("1")
        try laptop.edit("1") { $0.title = "bread" }
        laptop.syncNow()
        try settle()
        #expect(try phone.todo("1")?.title == "bread")
        #expect(phone.rules.contains(.deletionDropped))
    }

    @Test func aDeletionReachesTheOtherDevice() throws {
        try start()
        try laptop.remove("1")
        try settle()
        #expect(try phone.todos().isEmpty)
        #expect(phone.log.withLock { $0 }.isEmpty)
    }

    @Test("a deletion after a change whose answer was lost is not undone by the echo of the change")
    func aDeletionIsNotUndoneByAnEcho() throws {
        try start()
        try phone.edit("1") { $0.title = "bread" }
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        phone.syncNow()
        cloud.networkFault = nil
        try phone.remove("1")
        cloud.clock.advance(bySeconds: 400)
        try settle()
        #expect(try phone.todos().isEmpty)
    }

    @Test func bothMakeARecordOfOneName() throws {
        phone.syncNow()
        laptop.syncNow()
        try phone.set(Todo(title: "eggs"), "1")
        try laptop.set(Todo(title: "bread", note: "rye"), "1")
        try settle()
        #expect(try phone.todo("1")?.title == "eggs")
        #expect(laptop.rules.contains(.remoteWon))
    }

    @Test("every value that a device committed is on the server or in its log")
    func everyDroppedValueIsInTheLog() throws {
        try start()
        for title in ["l1", "l2", "l3"] { try laptop.edit("1") { $0.title = title } }
        try phone.edit("1") { $0.title = "p" }
        phone.syncNow()
        try settle()
        #expect(try phone.todo("1")?.title == "p")
        let entries = laptop.log.withLock { $0 }
        #expect(entries.map(\.replaced) == ["l1", "l2", "l3"])
        #expect(entries.map(\.kind) == [.superseded, .superseded, .lost])
    }

    @Test("a decision that wasn't reported before a crash is reported at the next start")
    func aDecisionIsReportedAtTheNextStart() throws {
        try start()
        try phone.edit("1") { $0.title = "p" }
        phone.syncNow()
        try laptop.edit("1") { $0.title = "l" }
        let map = CloudSyncMap(
            models: [.model(Todo.self, collection: "todos")], zoneID: laptop.sync.zoneID)
        let remote = try #require(phone.server("1"))
        try laptop.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try map.zoneHandler.applyRecord(transaction, ext, DatabaseKey(nil), remote)
        }
        // The process dies here: what was to be told is in the table only.
        #expect(laptop.log.withLock { $0 }.isEmpty)
        try laptop.relaunch()
        laptop.syncNow()
        #expect(laptop.log.withLock { $0 }.map(\.dropped) == ["l"])
        try laptop.relaunch()
        laptop.syncNow()
        let left = try laptop.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.log.logEntries()
        }
        #expect(left.isEmpty)
    }

    @Test func aDecisionIsReportedOnceToAListenerAddedWithIt() throws {
        try start()
        try phone.edit("1") { $0.title = "p" }
        phone.syncNow()
        try laptop.edit("1") { $0.title = "l" }
        let remote = try #require(phone.server("1"))
        let heard = Lock<[CloudMergeLogEntry]>([])
        try laptop.write { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                .mergeRecord(remote, databaseIdentifier: nil)
        }
        laptop.sync.observeMergeLog { entries in heard.withLock { $0 += entries } }
        laptop.syncNow()
        #expect(heard.withLock { $0 }.map(\.dropped) == ["l"])
    }

    @Test func aRecordOfAnUnknownTypeThatWentUnseenIsNotKept() throws {
        try start()
        let record = CKRecord(
            recordType: "note", recordID: CKRecord.ID(recordName: "n", zoneID: phone.sync.zoneID))
        let database = laptop.device.container.privateCloudDatabase
        database.add(CKModifyRecordsOperation(recordsToSave: [record]))
        phone.syncNow()
        database.add(CKModifyRecordsOperation(recordIDsToDelete: [record.recordID]))
        try refuseToken(.expired)
        phone.syncNow()
        let stashed = try phone.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.stash.stashed(ofType: "note")
        }
        #expect(stashed.isEmpty)
    }

    @Test("88. an expired token: missing records were deleted, unless they were never uploaded")
    func aTokenThatIsTooOld() throws {
        try phone.set(Todo(title: "stays"), "1")
        try phone.set(Todo(title: "goes"), "2")
        try settle()
        try laptop.remove("2")
        try laptop.edit("1") { $0.note = "new" }
        laptop.syncNow()
        phone.sync.suspend()
        try phone.set(Todo(title: "never uploaded"), "3")
        try refuseToken(.expired)
        phone.sync.resume()
        try settle()
        #expect(try phone.todos().keys.sorted() == ["1", "3"])
        #expect(try phone.todo("1")?.note == "new")
    }

    @Test("B2. a lost zone: missing records are uploaded again, and nothing of this device is lost")
    func aZoneThatWasLost() throws {
        try phone.set(Todo(title: "one"), "1")
        try phone.set(Todo(title: "two"), "2")
        try settle()
        let operation = CKModifyRecordZonesOperation(recordZoneIDsToDelete: [phone.sync.zoneID])
        phone.device.container.privateCloudDatabase.add(operation)
        try phone.edit("1") { $0.note = "after" }
        cloud.clock.advance(bySeconds: 10)
        for device in [phone, laptop] {
            device.syncNow()
            device.sync.retry()
            device.syncNow()
        }
        try settle()
        #expect(try laptop.todos().keys.sorted() == ["1", "2"])
        #expect(try laptop.todo("1")?.note == "after")
    }

    /// The phone's next fetch is told that its token is no longer good.
    private func refuseToken(_ refusal: FullFetchReason) throws {
        cloud.fail(.fetchRecordZoneChanges, with: .changeTokenExpired, times: 1)
        phone.syncNow()
    }

    @Test("87, B5. after a relaunch the fetch continues where it was")
    func theFetchContinuesWhereItWas() throws {
        try start()
        try laptop.relaunch()
        try phone.edit("1") { $0.title = "bread" }
        phone.syncNow()
        laptop.syncNow()
        #expect(try laptop.todo("1")?.title == "bread")
        try settle()
    }

    @Test("86. a record of a type that the app doesn't know is kept until it does")
    func aRecordOfAnUnknownType() throws {
        try start()
        let record = CKRecord(
            recordType: "note", recordID: CKRecord.ID(recordName: "n", zoneID: phone.sync.zoneID))
        record["text"] = "later"
        phone.device.container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [record]))
        laptop.syncNow()
        let stashed = try laptop.read { transaction in
            try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self).tables.stash.stashed(ofType: "note")
        }
        #expect(stashed.map(\.record.recordID.recordName) == ["n"])
        #expect(stashed.first?.record["text"] == "later")
        let map = CloudSyncMap(
            models: [.model(Note.self, collection: "notes")], zoneID: laptop.sync.zoneID)
        try laptop.write { transaction in
            try map.deliverStash(transaction, try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self))
        }
        let note = try laptop.read { try $0.object(Note.self, forKey: "n", inCollection: "notes") }
        #expect(note == Note(text: "later"))
    }

    @Test("a relaunch in the middle of an upload loses nothing and sends nothing twice")
    func aRelaunchInTheMiddle() throws {
        for number in 0..<5 { try phone.set(Todo(title: "\(number)"), "\(number)") }
        cloud.networkFault = { $0.path.hasSuffix("records/modify") ? .loseReply : .none }
        phone.syncNow()
        cloud.networkFault = nil
        try phone.relaunch()
        try phone.remove("0")
        try phone.edit("1") { $0.note = "n" }
        try settle()
        #expect(try laptop.todos().count == 4)
        #expect(try laptop.todo("1")?.note == "n")
    }

    @Test func anotherUserSeesNothing() throws {
        try start()
        let stranger = try SyncedDevice(cloud, user: "mallory")
        #expect(stranger.syncNow().state == .idle)
        #expect(try stranger.todos().isEmpty)
    }
}

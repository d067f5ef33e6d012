import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Answers that arrive in another order than they were given in: pages from before a save, saves whose answers are not
/// known, and several refused changes of one record.
@Suite struct OvertakenTests {
    let cloud = TestCloud()

    /// A fetch begins, as an app begins one.
    private func beginFetch(_ device: HandledDevice) throws {
        _ = try device.read { _, ext in
            try ext.token(forZone: HandledDevice.zoneID, databaseIdentifier: nil)
        }
    }

    private func isOvertaken(_ record: CKRecord, _ device: HandledDevice) throws -> Bool {
        try device.read { _, ext in try ext.isOvertaken(record, databaseIdentifier: nil) }
    }

    private func isDeletionUncertain(_ device: HandledDevice) throws -> Bool {
        try device.read { _, ext in
            try ext.isDeletionUncertain(of: device.id("1"), databaseIdentifier: nil)
        }
    }

    private func takeBatch(_ device: HandledDevice) throws {
        try device.write { _, ext in _ = try ext.takeBatch(DatabaseKey(nil), itemsMax: 400, bytesMax: .max) }
    }

    @Test("133. a fetched version from before a save whose answer came meanwhile is left")
    func aVersionFromBeforeASave() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        let page = try #require(device.server("1"))
        cloud.clock.advance(bySeconds: 1)
        try device.edit("1") { $0.title = "b" }
        #expect(device.upload().state == .idle)
        #expect(try isOvertaken(page, device))
        try device.merge(page)
        #expect(try device.todo("1")?.title == "b")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
        #expect(device.seen.merged.isEmpty)
    }

    @Test("179. a fetched version from before a conflict that was merged meanwhile is left")
    func aVersionFromBeforeAConflict() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        let page = try #require(device.server("1"))
        cloud.clock.advance(bySeconds: 1)
        _ = device.changeOnServer("1") { $0["note"] = "of another device" }
        cloud.clock.advance(bySeconds: 1)
        let held = HeldAnswers(cloud)
        try device.edit("1") { $0.title = "b" }
        _ = device.upload()
        // The conflict comes, and the save goes again on the other device's version.
        held.release()
        _ = device.upload()
        #expect(held.count == 1)
        try device.edit("1") { $0.title = "c" }
        try device.merge(page)
        held.release()
        cloud.carrier = nil
        #expect(device.upload().state == .idle)
        #expect(try device.todo("1")?.title == "c")
        #expect(device.server("1")?["title"] == "c")
        #expect(try device.tag("1") == device.server("1")?.recordChangeTag)
    }

    @Test("133. a version that another device made after the save is merged")
    func aVersionFromAfterASave() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        cloud.clock.advance(bySeconds: 1)
        try device.edit("1") { $0.title = "b" }
        #expect(device.upload().state == .idle)
        cloud.clock.advance(bySeconds: 1)
        try device.merge(device.changeOnServer("1") { $0["title"] = "c" })
        #expect(try device.todo("1")?.title == "c")
    }

    @Test("133. with the next fetch every version is judged by its tag again, as after the server went back")
    func theNextFetchBeginsAnew() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        let earlier = try #require(device.server("1"))
        cloud.clock.advance(bySeconds: 1)
        try device.edit("1") { $0.title = "b" }
        #expect(device.upload().state == .idle)
        try beginFetch(device)
        #expect(try !isOvertaken(earlier, device))
        try device.merge(earlier)
        #expect(try device.todo("1")?.title == "a")
    }

    @Test(
        "134. a fetched version from before a deletion that is done is overtaken, and one made after it isn't"
    )
    func aVersionFromBeforeADeletion() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        let page = try #require(device.server("1"))
        cloud.clock.advance(bySeconds: 1)
        try device.remove("1")
        #expect(device.upload().state == .idle)
        #expect(try isOvertaken(page, device))
        let other = CKRecord(recordType: "todo", recordID: device.id("1"))
        other["title"] = "of another device"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [other]))
        #expect(try !isOvertaken(try #require(device.server("1")), device))
    }

    @Test(
        "151. whether a fetched deletion is older than a save that was confirmed meanwhile, only another fetch says"
    )
    func aDeletionFromBeforeOrAfterASave() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        #expect(try !isDeletionUncertain(device))
        try device.edit("1") { $0.title = "b" }
        #expect(device.upload().state == .idle)
        #expect(try isDeletionUncertain(device))
        try beginFetch(device)
        #expect(try !isDeletionUncertain(device))
    }

    @Test("156. whether a fetched deletion is older than a first save in flight, only its answer says")
    func aDeletionWhileTheFirstSaveIsInFlight() throws {
        let device = try HandledDevice(cloud)
        try beginFetch(device)
        try device.set(Todo(title: "a"), "1")
        #expect(try !isDeletionUncertain(device), "it only waits")
        try takeBatch(device)
        #expect(try isDeletionUncertain(device))
        try beginFetch(device)
        #expect(try isDeletionUncertain(device), "it is still not answered")
    }

    /// Its own deletion may come after another device has made the record again.
    @Test("187. a deletion of a record whose deletion by this device is in flight waits for the answer")
    func aDeletionWhileItsOwnIsInFlight() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        try device.remove("1")
        #expect(try !isDeletionUncertain(device), "it only waits")
        try takeBatch(device)
        #expect(try isDeletionUncertain(device))
    }

    @Test("156. a deletion of a record that the server had is certain while an edit of it is in flight")
    func aDeletionWhileAnEditIsInFlight() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try beginFetch(device)
        try device.edit("1") { $0.title = "b" }
        try takeBatch(device)
        #expect(try !isDeletionUncertain(device))
    }

    @Test(
        "152. changes of an unresolved conflict are sent before a later edit, and again with another version"
    )
    func aConflictThatNeverSettled() throws {
        let device = try stuckDevice()
        try device.edit("1") { $0.title = "c" }
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        #expect(try device.sentTitles() == ["b", "c"])
        let other = try stuckDevice()
        other.behave { $0.versionTag = "2" }
        try other.relaunch()
        #expect(other.upload().state == .idle)
        #expect(other.server("1")?["title"] == "b")
    }

    /// A device with an edit in a conflict that nothing settles.
    private func stuckDevice() throws -> HandledDevice {
        let cloud = TestCloud()
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        cloud.fail(.modifyRecords, with: .serverRecordChanged, times: SyncEngine.identicalConflictsMax + 1)
        try device.edit("1") { $0.title = "b" }
        for _ in 0..<20 {
            cloud.clock.advance(bySeconds: 400)
            device.upload()
        }
        #expect(device.cloudKit.status.needs([.stuck(recordName: "1")]))
        return device
    }

    @Test("153. the known part of a change in flight that can't be restored is sent before a later edit")
    func aChangeInFlightThatIsKnownInPart() throws {
        let device = try HandledDevice(cloud, storage: .keysOnly)
        try device.uploaded(Todo(title: "a"), "1")
        device.cloudKit.suspend()
        try device.edit("1") {
            $0.title = "b"
            $0.note = "n"
        }
        try device.write { _, ext in
            let set = try #require(try ext.tables.queue.oldestChangeSet(DatabaseKey(nil)))
            try ext.tables.queue.setInFlight(set.sequence, true)
        }
        device.behave { $0.forgottenKeys = ["note"] }
        try device.relaunch()
        let keys = ["note", "title"]
        #expect(device.upload().needs([.unrestorable(recordName: "1", keys: keys)]))
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "c" }
        device.behave { $0.forgottenKeys = [] }
        #expect(try device.queue() == ["S1{title=b}", "S1{note=n,title=c}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["note"] == "n")
    }

    @Test(
        "157. a change sent before a later edit has the original of the dropped change before it"
    )
    func theOriginalOfADroppedChangeIsPassedOn() throws {
        let device = try HandledDevice(cloud, storage: .keysOnly)
        try device.uploaded(Todo(title: "a"), "1")
        device.cloudKit.suspend()
        try device.edit("1") {
            $0.title = "b"
            $0.note = "n"
        }
        try device.edit("1") { $0.title = "c" }
        try device.write { _, ext in
            let row = try #require(try ext.tables.records.liveRecord(device.id("1"), DatabaseKey(nil)))
            let last = try #require(try ext.tables.queue.changes(of: row.id).last)
            try ext.tables.queue.setInFlight(last.sequence, true)
        }
        device.behave { $0.forgottenKeys = ["note"] }
        try device.relaunch()
        device.upload()
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "d" }
        let kept = try device.read { _, ext in
            let row = try #require(try ext.tables.records.liveRecord(device.id("1"), DatabaseKey(nil)))
            return try #require(try ext.tables.queue.changes(of: row.id).first)
        }
        #expect(kept.fields["title"]?.value == .string("c"))
        // With "b", which is never sent, the server's "a" would look like another device's, and win.
        #expect(kept.originals["title"]?.value == .string("a"))
    }

    @Test(
        "136. of a change in flight and a later one, both quarantined, the newest value is sent with the next"
    )
    func theNewestQuarantinedValueIsSent() throws {
        let device = try deviceWithNoteInFlight()
        try device.write { _, ext in
            let record = CKRecord(recordType: "todo", recordID: device.id("1"))
            record["note"] = "newest"
            try ext.saveRecord(record, databaseIdentifier: nil)
        }
        device.behave { $0.forgottenKeys = ["note"] }
        try device.relaunch()
        #expect(device.upload().needs([.unrestorable(recordName: "1", keys: ["note"])]))
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "c" }
        #expect(try device.queue() == ["S1{note=newest,title=c}"])
    }

    @Test(
        "147. a value that only a row had, and lost to an older version, is given up and not sent as cleared")
    func aValueThatARowLost() throws {
        let device = try deviceWithNoteInFlight()
        device.behave {
            $0.unknownKeys = ["note"]
            $0.versionTag = "0"
        }
        try device.relaunch()
        device.cloudKit.suspend()
        try device.edit("1") {
            $0.title = "b"
            $0.note = nil
        }
        device.behave {
            $0.unknownKeys = []
            $0.versionTag = "1"
        }
        try device.relaunch()
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["note"] == "m")
    }

    /// A device that keeps keys only, with a changed note that an operation has.
    private func deviceWithNoteInFlight() throws -> HandledDevice {
        let device = try HandledDevice(cloud, storage: .keysOnly)
        try device.uploaded(Todo(title: "a", note: "m"), "1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.note = "n" }
        try device.write { _, ext in
            let set = try #require(try ext.tables.queue.oldestChangeSet(DatabaseKey(nil)))
            try ext.tables.queue.setInFlight(set.sequence, true)
        }
        return device
    }

    @Test("151. of more saves than are remembered every deletion in their zone is uncertain")
    func moreSavesThanAreRemembered() {
        let (writes, database) = (WritesSinceFetch(), DatabaseKey(nil))
        let zoneID = HandledDevice.zoneID
        func id(_ number: Int) -> CKRecord.ID { CKRecord.ID(recordName: "\(number)", zoneID: zoneID) }
        for number in 0...WritesSinceFetch.recordsMax { writes.note(.known, of: id(number), in: database) }
        #expect(writes.mayHaveHad(id(0), in: database))
        writes.noteFetch(of: zoneID, in: database)
        #expect(!writes.mayHaveHad(id(0), in: database))
    }

    @Test("135. a value that may be on the server stays before a later one, and is no other device's change")
    func aValueThatMayBeOnTheServer() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        let before = try #require(device.server("1"))
        device.lose(.loseReply)
        try device.edit("1") { $0.title = "b" }
        device.upload()
        cloud.networkFault = nil
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "c" }
        // A page from before the save, which the device doesn't know of.
        try device.merge(before)
        #expect(try device.queue() == ["S1{title=b}", "S1{title=c}"])
        // The next one has it.
        cloud.clock.advance(bySeconds: 1)
        try device.merge(device.server("1"))
        #expect(try device.todo("1")?.title == "c")
        #expect(try device.queue() == ["S1{title=c}"])
        cloud.clock.advance(bySeconds: 600)
        device.cloudKit.networkMayBeBack()
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
    }

    @Test("135. a change that was never sent is replaced by a later one, as always")
    func aValueThatWasNeverSent() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.title = "c" }
        try device.merge(device.changeOnServer("1") { $0["note"] = "theirs" })
        #expect(try device.queue() == ["S1{title=c}"])
    }

    @Test(
        "136. of several rejected changes of a record the newest value of each field is sent with the next change",
        arguments: YapDatabaseCloudKit.QueueStorage.allCases)
    func severalRefusedChanges(_ storage: YapDatabaseCloudKit.QueueStorage) throws {
        let device = try HandledDevice(cloud, storage: storage)
        try device.uploaded(Todo(title: "a"), "1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.title = "b" }
        try device.edit("1") { $0.title = "c" }
        try device.write { _, ext in
            let row = try #require(try ext.tables.records.liveRecord(device.id("1"), DatabaseKey(nil)))
            try ext.tables.queue.quarantineChanges(of: row.id, code: 1)
        }
        try device.edit("1") { $0.note = "n" }
        #expect(try device.queue() == ["S1{note=n,title=c}"])
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "c")
    }

    @Test(
        "145. a recreated record has the newest pending values, including a cleared field"
    )
    func aRecordMadeAgain() throws {
        let device = try HandledDevice(cloud, storage: .values)
        try device.uploaded(Todo(title: "a"), "1")
        device.cloudKit.suspend()
        try device.edit("1") { $0.note = "n" }
        try device.edit("1") { $0.note = nil }
        try device.edit("1") { $0.title = "b" }
        device.deleteOnServer("1")
        #expect(device.upload().state == .idle)
        #expect(device.server("1")?["title"] == "b")
        #expect(device.server("1")?["note"] as? String == nil)
        #expect(try device.todo("1") == Todo(title: "b"))
    }

    @Test(
        "146. a write that is sent again because no answer came is done once, until something else is known")
    func aWriteThatIsSentAgain() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        device.lose(.loseReply)
        try device.remove("1")
        device.upload()
        cloud.networkFault = nil
        makeByAnotherDevice(device.id("1"))
        try sendAgain(device)
        #expect(device.server("1")?["title"] == "of another device")
    }

    private func makeByAnotherDevice(_ recordID: CKRecord.ID) {
        let other = CKRecord(recordType: "todo", recordID: recordID)
        other["title"] = "of another device"
        cloud.device(user: "ada").container.privateCloudDatabase.add(
            CKModifyRecordsOperation(recordsToSave: [other]))
    }

    private func sendAgain(_ device: HandledDevice) throws {
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 600)
        device.cloudKit.networkMayBeBack()
        #expect(device.upload().state == .idle)
        #expect(try device.queue().isEmpty)
    }

    /// A page comes that shows nothing of what is here: only its token is stored.
    private func storeToken(_ device: HandledDevice) throws {
        let page = Lock<SyncPage?>(nil)
        device.device.container.privateCloudDatabase.add(
            CKFetchRecordZoneChangesOperation.page(of: HandledDevice.zoneID, since: nil) { result in
                page.withLock { $0 = try? result.get() }
            })
        let token = try #require(page.withLock { $0 }?.token)
        try device.write { _, ext in
            try ext.setToken(token, forZone: HandledDevice.zoneID, databaseIdentifier: nil)
        }
    }

    private func expectRemovedByNextPage(_ key: String, _ device: HandledDevice) throws {
        let rows = try device.write { _, ext in
            // The fetch of the page begins.
            _ = try ext.token(forZone: HandledDevice.zoneID, databaseIdentifier: nil)
            #expect(try !ext.isDeletionUncertain(of: device.id(key), databaseIdentifier: nil))
            return try ext.removeRemotelyDeletedRecord(device.id(key), databaseIdentifier: nil)
        }
        #expect(rows.map(\.key) == [key])
    }

    /// Another device deletes a record whose making was not answered; then `meanwhile`, and the save goes again.
    private func saveAgain(_ device: HandledDevice, after meanwhile: () throws -> Void) throws {
        device.lose(.loseReply)
        try device.set(Todo(title: "a"), "1")
        device.upload()
        cloud.networkFault = nil
        device.deleteOnServer("1")
        try meanwhile()
        try sendAgain(device)
    }

    @Test("180. a save without an answer is the same write after a page that shows nothing of its record")
    func aSaveIsSentAgainAfterAPage() throws {
        let device = try HandledDevice(cloud)
        try storeToken(device)
        try saveAgain(device) { try storeToken(device) }
        #expect(device.server("1") == nil, "the deletion comes with the next page")
    }

    @Test(
        "180. after the first page of a fetch from the beginning, which has no deletions, it is another one"
    )
    func aSaveIsSentAgainAfterAFirstPage() throws {
        let device = try HandledDevice(cloud)
        try saveAgain(device) { try storeToken(device) }
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("180. it is another one after the token was dropped, also before a page is received")
    func aSaveIsSentAgainWithoutAToken() throws {
        let device = try HandledDevice(cloud)
        try storeToken(device)
        try saveAgain(device) {
            try device.write { _, ext in
                try ext.setToken(nil, forZone: HandledDevice.zoneID, databaseIdentifier: nil)
            }
        }
        #expect(device.server("1")?["title"] == "a")
    }

    @Test("180. a deletion is another write after each page: others' records of the name are skipped")
    func aDeletionIsSentAgainAfterAPage() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try storeToken(device)
        device.lose(.loseReply)
        try device.remove("1")
        device.upload()
        cloud.networkFault = nil
        makeByAnotherDevice(device.id("1"))
        try storeToken(device)
        try sendAgain(device)
        #expect(device.server("1") == nil)
    }

    @Test(
        "197. a record created by a change-set and deleted by another device isn't recreated by a neighbour's merge"
    )
    func aNeighbourIsMergedBeforeAChangeSetIsSentAgain() throws {
        let device = try HandledDevice(cloud)
        try storeToken(device)
        device.lose(.loseReply)
        try device.write { transaction, _ in
            for key in ["1", "2"] {
                try transaction.setObject(Todo(title: key), forKey: key, inCollection: "todos")
            }
        }
        device.upload()
        cloud.networkFault = nil
        try device.merge(device.server("1"))
        try storeToken(device)
        device.deleteOnServer("2")
        try sendAgain(device)
        #expect(device.server("1")?["title"] == "1")
        #expect(device.server("2") == nil)
        try expectRemovedByNextPage("2", device)
    }

    @Test("197. a change-set with a deletion makes its new record once, also after a page")
    func aChangeSetWithADeletionIsSentAgainAfterAPage() throws {
        let device = try HandledDevice(cloud)
        try device.uploaded(Todo(title: "a"), "1")
        try storeToken(device)
        device.lose(.loseReply)
        try device.write { transaction, _ in
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(
                Todo(title: "b"), forKey: "2", inCollection: "todos")
        }
        device.upload()
        cloud.networkFault = nil
        makeByAnotherDevice(device.id("1"))
        try storeToken(device)
        device.deleteOnServer("2")
        try sendAgain(device)
        #expect(device.server("2") == nil)
        #expect(device.server("1") == nil, "its deletion was sent once more")
        try expectRemovedByNextPage("2", device)
    }
}

import CloudKit
import CloudKitTesting
import Foundation
import NotesKit
import Testing

/// The offline copy, accounts, versions, and what a person is told when the cloud isn't there.
@Suite struct NoteOfflineTests {
    @Test func withoutANetworkTheNoteIsShownEditedAndSentLater() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        apps.cloud.disconnect(apps.phone.device)
        try await apps.phone.write("Buy oat milk")
        let screen = await apps.phone.screen
        #expect(screen.text == "Buy oat milk" && screen.availability == .offline)
        #expect(screen.sync == .waiting(seconds: NoteBook.retrySeconds))
        #expect(screen.words == "cloud: no connection, the note is kept here; next try in 30 s")

        // The app is started anew, still without a network.
        let again = try AppOnDevice(apps.phone.device, folder: apps.phone.folder)
        #expect(await again.seen == Seen("Buy oat milk", .unsent))
        await again.book.start()
        #expect(await again.screen.availability == .offline)
        apps.cloud.connect(apps.phone.device)
        await again.machine.pass(NoteBook.retrySeconds)
        let online = await again.screen
        #expect(online.sync == .synced && online.availability == .available)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == "Buy oat milk")
        // The zone and the subscription were made once for each device.
        #expect(apps.cloud.requestCount(.modifySubscriptions) == 2)
    }

    @Test func aBusyServerGetsNoRequestsUntilItsRetryTime() async throws {
        let apps = try await TwoApps()
        apps.cloud.fail(.modifyRecords, with: .zoneBusy, retryAfterSeconds: 7)
        try await apps.phone.write("one")
        #expect(await apps.phone.screen.sync == .waiting(seconds: 7))
        let count = apps.cloud.requestCount()
        try await apps.phone.write("two")
        await apps.phone.book.sync()
        #expect(apps.cloud.requestCount() == count && apps.phone.machine.waits == [5])
        await apps.phone.machine.pass(5)
        #expect(await apps.phone.screen.sync == .synced)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == "two")
    }

    @Test func aFileThatCanNotBeWrittenRefusesTheEdit() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        try FileManager.default.removeItem(at: apps.phone.folder)
        await #expect(throws: (any Error).self) { try await apps.phone.book.edit("Buy oat milk") }
        #expect(await apps.phone.text == "Buy milk")
    }

    // MARK: Versions

    @Test func aNoteOfANewerAppIsNotTouchedAndTheUserIsNotified() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        try await apps.change { record in
            record["version"] = Note.version + 1
            record["checkboxes"] = [1, 2]
        }
        try await apps.phone.write("Buy oat milk")
        let screen = await apps.phone.screen
        #expect(screen.sync == .newerVersionAvailable && screen.text == "Buy oat milk")
        #expect(screen.words.contains("update"))
        #expect(try await apps.record()["version"] == Note.version + 1, "nothing was saved over it")
        #expect(apps.phone.machine.waits.isEmpty)
        // What was the newer app's is found again by whoever can read it.
        try await apps.change { $0["version"] = Note.version }
        await apps.phone.book.sync()
        #expect(await apps.phone.seen == Seen("Buy oat milk"))
        #expect(try await apps.record()["checkboxes"] == [1, 2])
    }

    @Test func aNewerAppsSaveInAConflictIsLeftAloneToo() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        apps.beforeTheNextSave { $0["version"] = Note.version + 1 }
        await apps.phone.machine.pass(10)
        try await apps.phone.write("mine")
        #expect(await apps.phone.screen.sync == .newerVersionAvailable)
        #expect(try await apps.record()["version"] == Note.version + 1)
    }

    @Test func aRecordThatIsNoNoteIsReportedAndNotTouched() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        try await apps.change { $0["version"] = nil as Int? }
        await apps.laptop.book.sync()
        guard case .failed(let reason) = await apps.laptop.screen.sync else {
            Issue.record("it was no failure")
            return
        }
        #expect(reason.contains("no note of this app"))
    }

    // MARK: Accounts

    @Test func signingInStartsASync() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        await apps.laptop.book.sync()
        try await apps.phone.write("Buy oat milk")
        apps.laptop.machine.center.post(name: .CKAccountChanged, object: nil)
        let screen = await apps.laptop.screen { $0.text == "Buy oat milk" && $0.sync == .synced }
        #expect(screen?.availability == .available)
    }

    @Test func aSignedOutUserWritesOnTheDeviceAndSeesThat() async throws {
        let cloud = TestCloud()
        let stranger = try AppOnDevice(cloud.signedOutDevice())
        await stranger.book.start()
        try await stranger.write("Buy milk")
        let screen = await stranger.screen
        #expect(screen.availability == .noAccount && screen.sync == .unsent && screen.text == "Buy milk")
        // The folder is another device's then: whoever signs in first owns what was written.
        let ada = try AppOnDevice(cloud.device(user: "ada"), folder: stranger.folder)
        await ada.book.start()
        #expect(await ada.seen == Seen("Buy milk"))
    }

    @Test func anotherUserSeesAnotherNoteAndTheFirstOnesIsKept() async throws {
        let cloud = TestCloud()
        let ada = try AppOnDevice(cloud.device(user: "ada"))
        await ada.book.start()
        try await ada.write("Ada's")
        cloud.disconnect(ada.device)
        try await ada.write("Ada's, unsent")

        let bob = try AppOnDevice(cloud.device(user: "bob"), folder: ada.folder)
        await bob.book.start()
        #expect(await bob.seen == Seen(""))
        try await bob.write("Bob's")
        let bobs = try await bob.device.container.privateCloudDatabase.record(for: Note.recordID)
        #expect(bobs["version"] == Note.version)

        cloud.connect(ada.device)
        let again = try AppOnDevice(ada.device, folder: ada.folder)
        await again.book.start()
        #expect(await again.seen == Seen("Ada's, unsent"))
        let laptop = try AppOnDevice(cloud.device(user: "ada"))
        await laptop.book.start()
        #expect(await laptop.text == "Ada's, unsent")
    }

    // MARK: Zones

    @Test func aDeletedZoneIsRecreatedFromTheDevice() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        try await apps.cloud.device(user: "ada").container.privateCloudDatabase.deleteRecordZone(
            withID: Note.zoneID)
        await apps.phone.book.sync()
        #expect(await apps.phone.screen.sync == .synced)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == "Buy milk")
    }

    @Test func whatTheUserDeletedByHandIsNotSentAgainUnasked() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        apps.cloud.fail(.fetchRecordZoneChanges, with: .userDeletedZone)
        let saves = apps.cloud.requestCount(.modifyRecords)
        await apps.phone.book.sync()
        guard case .failed(let reason) = await apps.phone.screen.sync else {
            Issue.record("it was no failure")
            return
        }
        #expect(reason.contains("you deleted"))
        await apps.phone.book.sync()
        #expect(apps.cloud.requestCount(.modifyRecords) == saves)
        try await apps.phone.write("Buy oat milk")
        #expect(await apps.phone.screen.sync == .synced)
    }

    @Test func aTokenThatIsTooOldFetchesTheZoneAnew() async throws {
        let apps = try await TwoApps()
        await apps.laptop.book.sync()
        try await apps.phone.write("Buy milk")
        apps.cloud.fail(.fetchRecordZoneChanges, with: .changeTokenExpired)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.seen == Seen("Buy milk"))
    }
}

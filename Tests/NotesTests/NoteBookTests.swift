import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import NotesKit
import Testing

/// The note on two devices.
@Suite struct NoteBookTests {
    @Test func whatIsWrittenOnOneDeviceIsReadOnTheOtherAfterItsPush() async throws {
        let apps = try await TwoApps()
        let pushes = apps.laptop.device.container.notifications()
        var events = pushes.makeAsyncIterator()
        _ = await events.next()
        try await apps.phone.write("Buy milk")
        #expect(await apps.phone.screen.sync == .synced)
        #expect(await apps.laptop.text == "")
        apps.cloud.deliverPushes()
        guard case .notification(let push)? = await events.next() else {
            Issue.record("no push came")
            return
        }
        await apps.laptop.book.receive(push)
        let screen = await apps.laptop.screen
        #expect(screen.text == "Buy milk" && screen.sync == .synced && screen.availability == .available)
        let written = await apps.phone.screen.modified
        #expect(screen.modified == written)
        withExtendedLifetime(pushes) {}
    }

    @Test func theTextIsAnAssetAndNothingOfItIsLeftBehind() async throws {
        let apps = try await TwoApps()
        let long = String(repeating: "A long note. ", count: 100_000)
        try await apps.phone.write(long)
        let record = try await apps.record()
        #expect(record.allKeys().sorted() == ["modified", "text", "version"])
        let asset: CKAsset = try #require(record["text"])
        #expect(try String(contentsOf: #require(asset.fileURL), encoding: .utf8) == long)
        #expect(record["version"] == Note.version)
        #expect(apps.phone.machine.fileCount == 1 && apps.phone.machine.leftFiles.isEmpty)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == long)
    }

    // MARK: Merging edits

    @Test func smallEditsAreOneSaveAndOnTheDiskAtOnce() async throws {
        let apps = try await TwoApps()
        for length in 1...9 {
            try await apps.phone.book.edit(String("Groceries".prefix(length)))
            #expect(await apps.phone.screen.sync == .unsent)
            #expect(try NoteShelf(folder: apps.phone.folder).load().text.count == length)
            await apps.phone.machine.pass(0.2)
        }
        #expect(apps.cloud.requestCount(.modifyRecords) == 0)
        await apps.phone.machine.pass(NoteBook.mergeSeconds)
        #expect(apps.cloud.requestCount(.modifyRecords) == 1)
        // Who goes on typing is saved all the same.
        for length in 1...29 {
            try await apps.phone.book.edit(String(repeating: "x", count: length))
            await apps.phone.machine.pass(0.2)
        }
        #expect(apps.cloud.requestCount(.modifyRecords) == 3)
        await apps.phone.machine.pass(NoteBook.mergeSeconds)
        #expect(apps.cloud.requestCount(.modifyRecords) == 4)
        #expect(await apps.phone.screen.sync == .synced)
        #expect(apps.phone.machine.waits.isEmpty)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text.count == 29)
    }

    @Test func anEditDuringASaveIsNotTakenForSent() async throws {
        let apps = try await TwoApps(TestCloud(execution: .threads))
        let phone = apps.phone
        apps.cloud.during(.modifyRecords) {
            // On a thread of the operation's own; the book is free for the one who types.
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                try? await phone.book.edit("two")
                done.signal()
            }
            done.wait()
        }
        try await phone.write("one")
        #expect(await phone.text == "two")
        await phone.machine.pass(NoteBook.mergeSeconds)
        #expect(await phone.seen == Seen("two"))
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == "two")
    }

    // MARK: Conflicts

    @Test(arguments: [true, false]) func ofTwoEditsTheLaterOneWinsInAnySendOrder(phoneIsFirst: Bool)
        async throws
    {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        await apps.laptop.book.sync()
        // Both are changed before either is sent.
        await apps.laptop.machine.pass(60)
        try await apps.phone.book.edit("earlier")
        try await apps.laptop.book.edit("later")
        let order = phoneIsFirst ? [apps.phone, apps.laptop] : [apps.laptop, apps.phone]
        for app in order + order { await app.book.sync() }
        let (onPhone, onLaptop) = (await apps.phone.screen, await apps.laptop.screen)
        #expect(onPhone.text == "later" && onPhone.sync == .synced && onPhone == onLaptop)
        try await apps.phone.write("and on it goes")
        await apps.laptop.book.sync()
        #expect(await apps.laptop.text == "and on it goes")
    }

    @Test(arguments: ["earlier", "later"]) func aConflictThatTheSaveMeetsIsSettledByTheSameRule(other: String)
        async throws
    {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        let time = try #require(await apps.phone.screen.modified)
        apps.beforeTheNextSave { record in
            record["modified"] = time.addingTimeInterval(other == "later" ? 1_000 : 0.5)
            record["text"] = try asset(other)
        }
        await apps.phone.machine.pass(10)
        try await apps.phone.write("mine")
        let winner = Seen(other == "later" ? "later" : "mine")
        #expect(await apps.phone.seen == winner)
        #expect(apps.phone.machine.waits.isEmpty)
        await apps.laptop.book.sync()
        #expect(await apps.laptop.seen == winner)
        #expect(apps.cloud.requestCount(.modifyRecords) == (other == "later" ? 3 : 4))
    }

    @Test func anEditOfASeenTextWinsRegardlessOfTheClock() async throws {
        let apps = try await TwoApps()
        await apps.phone.machine.pass(86_400)
        try await apps.phone.write("from tomorrow")
        await apps.laptop.book.sync()
        try await apps.laptop.book.edit("changed today")
        // Meanwhile the record is another version, with the same text of tomorrow.
        try await apps.change { $0["color"] = "red" }
        await apps.laptop.book.sync()
        #expect(await apps.laptop.seen == Seen("changed today"))
        await apps.phone.book.sync()
        #expect(await apps.phone.text == "changed today")
    }

    @Test func anUnsentEditOutlivesADeletionAndASentOneDoesNot() async throws {
        let apps = try await TwoApps()
        try await apps.phone.write("Buy milk")
        await apps.laptop.book.sync()
        try await apps.cloud.device(user: "ada").container.privateCloudDatabase.deleteRecord(
            withID: Note.recordID)
        await apps.laptop.book.sync()
        let empty = await apps.laptop.screen
        #expect(empty.text == "" && empty.modified == nil)
        try await apps.phone.write("Buy oat milk")
        await apps.laptop.book.sync()
        #expect(await apps.laptop.seen == Seen("Buy oat milk"))
        #expect(await apps.phone.seen == Seen("Buy oat milk"))
    }
}

func asset(_ text: String) throws -> CKAsset {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())")
    try Data(text.utf8).write(to: file)
    return CKAsset(fileURL: file)
}

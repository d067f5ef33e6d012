import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Files of objects on two devices.
@Suite struct CloudFileTests {
    let cloud: TestCloud
    let phone: AlbumDevice
    let laptop: AlbumDevice

    init() throws {
        cloud = TestCloud()
        phone = try AlbumDevice(cloud)
        laptop = try AlbumDevice(cloud)
    }

    @Test func aFileOfAnObjectIsOnTheOtherDeviceWithTheObject() async throws {
        let (cover, first, second) = (
            try await phone.add("cover"), try await phone.add("first"), try await phone.add("")
        )
        try phone.edit { ($0.cover, $0.pages) = (cover, [first, second]) }
        #expect(phone.syncNow().state == .idle && laptop.syncNow().state == .idle)
        let album = try #require(try laptop.album())
        #expect(try album == phone.album())
        #expect(try laptop.text(album.cover) == "cover")
        #expect(try album.pages.map { try laptop.text($0) } == ["first", ""])
        try laptop.relaunch()
        #expect(try laptop.text(laptop.album()?.cover) == "cover")
    }

    @Test func aFileStaysWhenTheFrameworksCacheIsEmptied() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        phone.syncNow()
        laptop.syncNow()
        let copy = try #require((laptop.server()?["cover"] as? CKAsset)?.fileURL)
        try FileManager.default.removeItem(at: copy.deletingLastPathComponent())
        #expect(try laptop.text(laptop.album()?.cover) == "cover")
    }

    @Test func aClearedFileAndAClearedListAreClearedOnTheOtherDevice() async throws {
        let file = try await phone.add("file")
        try phone.edit { ($0.cover, $0.pages) = (file, [file]) }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit { ($0.cover, $0.pages) = (nil, []) }
        laptop.syncNow()
        phone.syncNow()
        #expect(try phone.album() == Album())
    }

    @Test func aFileOnRequestIsFetchedWhenItIsAskedFor() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let album = try #require(try laptop.album())
        #expect(album.scan == scan && laptop.sync.files.url(of: scan) == nil)
        #expect(cloud.requestCount(.downloadAsset) == 0)
        #expect(try await laptop.fetch(album.scan) == "scan")
        #expect(try await laptop.fetch(album.scan) == "scan")
        #expect(cloud.requestCount(.downloadAsset) == 1)
    }

    @Test func aRequestForOneFileFetchesNoOther() async throws {
        let (cover, scan) = (try await phone.add("cover"), try await phone.add("scan"))
        try phone.edit { ($0.cover, $0.scan) = (cover, scan) }
        phone.syncNow()
        cloud.fail(.downloadAsset, with: .assetNotAvailable, on: laptop.device)
        laptop.syncNow()
        #expect(laptop.names.isEmpty)
        #expect(try await laptop.fetch(scan) == "scan")
        #expect(try laptop.text(cover) == nil)
    }

    @Test func aFileThatIsReplacedMeanwhileIsAnErrorThatSaysSo() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let other = try await phone.add("other")
        try phone.edit { $0.scan = other }
        phone.syncNow()
        await #expect(throws: CKError.self) { try await laptop.fetch(scan) }
        await #expect(throws: CKError.self) { try await laptop.fetch(scan, "nothing") }
        laptop.syncNow()
        #expect(try await laptop.fetch(laptop.album()?.scan) == "other")
    }

    @Test func aFileThatTheServerCannotSendKeepsNoObjectAway() async throws {
        let (lost, cover) = (try await phone.add("lost"), try await phone.add("cover"))
        try phone.edit("1") { $0.cover = lost }
        try phone.edit("2") { $0.cover = cover }
        phone.syncNow()
        cloud.fail(.downloadAsset, with: .assetNotAvailable, on: laptop.device)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.album("1")?.cover == lost && laptop.text(lost) == nil)
        #expect(try laptop.text(laptop.album("2")?.cover) == "cover")
        #expect(try await laptop.fetch(lost, "1") == "lost")
    }

    @Test func aServerThatIsTooBusyForAFileSendsItLater() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        phone.syncNow()
        cloud.fail(.downloadAsset, with: .serviceUnavailable, retryAfterSeconds: 3, on: laptop.device)
        #expect(laptop.syncNow().pause == .server(.serviceUnavailable))
        cloud.clock.advance(bySeconds: 4)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.text(laptop.album()?.cover) == "cover")
    }

    @Test func aConflictWhoseFileDoesNotArriveIsMetAgain() async throws {
        try phone.edit { $0.title = "Rome" }
        phone.syncNow()
        laptop.syncNow()
        let (mine, theirs) = (try await phone.add("mine"), try await laptop.add("theirs"))
        try phone.edit { $0.cover = mine }
        try laptop.edit { ($0.title, $0.pages) = ("Roma", [theirs]) }
        cloud.during(.modifyRecords, on: laptop.device) { [sync = phone.sync] in sync.syncNowInline() }
        cloud.loseRequests(.fetchRecords, on: laptop.device)
        #expect(laptop.syncNow().pause == .network)
        #expect(try laptop.album()?.cover == nil)
        cloud.clock.advance(bySeconds: 600)
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.text(laptop.album()?.cover) == "mine")
        phone.syncNow()
        #expect(try phone.album() == laptop.album())
    }

    @Test func aConflictBringsTheOtherDevicesFile() async throws {
        try phone.edit { $0.title = "Rome" }
        phone.syncNow()
        laptop.syncNow()
        let (cover, page) = (try await phone.add("cover"), try await laptop.add("page"))
        try phone.edit { $0.cover = cover }
        try laptop.edit { $0.pages = [page] }
        // The laptop's save meets the phone's.
        cloud.during(.modifyRecords, on: laptop.device) { [sync = phone.sync] in sync.syncNowInline() }
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        let album = try #require(try laptop.album())
        #expect(try album == phone.album() && album.cover == cover && album.pages == [page])
        #expect(try laptop.text(cover) == "cover" && phone.text(page) == "page")
    }

    @Test func ofTwoFilesOfOneFieldOneStandsOnBothDevices() async throws {
        try phone.edit { $0.title = "Rome" }
        phone.syncNow()
        laptop.syncNow()
        let (mine, theirs) = (try await phone.add("mine"), try await laptop.add("theirs"))
        try phone.edit { $0.cover = mine }
        try laptop.edit { $0.cover = theirs }
        phone.syncNow()
        laptop.syncNow()
        phone.syncNow()
        let album = try #require(try laptop.album())
        #expect(try album == phone.album() && album.cover == mine)
        #expect(try laptop.text(mine) == "mine")
        let entry = try #require(laptop.log.withLock { $0.first { $0.field == "cover" } })
        #expect(entry.kind == .lost && entry.dropped == theirs.description)
    }

    @Test func equalFileContentsAreStoredOnceForAllUsers() async throws {
        let (mine, theirs) = (try await phone.add("same"), try await laptop.add("same"))
        #expect(mine == theirs && mine.sizeBytes == 4)
        let again = try await phone.add("same")
        #expect(again == mine && phone.names == [mine.name])
        let decoded = try JSONDecoder().decode(CloudFile.self, from: JSONEncoder().encode(mine))
        #expect(decoded == mine)
        for text in ["cloudfile:", "cloudfile:12-3", mine.text + "x", mine.text + "-1", "file:" + mine.name] {
            #expect(CloudFile(text: text) == nil)
        }
    }

    // MARK: Files that aren't on this device

    @Test func anEditOfADeletedRecordWhoseFileIsNotHereIsSentWithoutTheFile() async throws {
        let (cover, scan) = (try await phone.add("cover"), try await phone.add("scan"))
        try phone.edit { ($0.cover, $0.scan) = (cover, scan) }
        phone.syncNow()
        laptop.syncNow()
        try phone.remove()
        phone.syncNow()
        try laptop.edit { $0.title = "Rome" }
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        let album = try #require(try phone.album())
        #expect(try album == Album(title: "Rome", cover: cover) && album == laptop.album())
        let lost = laptop.log.withLock { $0.filter { $0.kind == .lost && $0.field != nil } }
        #expect(lost.map(\.field) == ["scan"] && lost.first?.dropped == scan.description)
    }

    @Test func aServerThatWasResetGetsNoFileThatIsNotHere() async throws {
        let old = try await phone.add("old")
        try phone.edit { $0.scan = old }
        phone.syncNow()
        laptop.syncNow()
        let before = try #require(laptop.server(desiredKeys: ["title"]))
        before["scan"] = old.asset
        cloud.clock.advance(bySeconds: 1)
        let new = try await phone.add("new")
        try phone.edit { ($0.scan, $0.title) = (new, "Rome") }
        phone.syncNow()
        laptop.syncNow()
        try laptop.write { transaction in
            let ext = try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
            try ext.beginFullFetch(laptop.sync.zoneID, DatabaseKey(nil), .reset)
            var page = SyncPage(zoneID: laptop.sync.zoneID)
            page.changed = [before]
            try laptop.sync.apply(page, in: transaction)
            #expect(
                try ext.batches.batch(DatabaseKey(nil), itemsMax: 9).saves.map { $0.changedKeys() } == [
                    ["title"]
                ])
        }
        #expect(try laptop.album() == Album(title: "Rome", scan: old))
        laptop.sync.handOutMergeLogInline()
        let lost = laptop.log.withLock { $0.filter { $0.kind == .lost } }
        #expect(lost.map(\.field) == ["scan"] && lost.map(\.rule) == [.serverWasReset])
    }

    @Test func aMissingFileQuarantinesAnotherObjectUntilItIsFetched() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit("2") { $0.scan = scan }
        let status = laptop.syncNow()
        #expect(status.state == .needsAttention && status.problems.count == 1)
        laptop.sync.retry()
        #expect(laptop.syncNow().state == .needsAttention && phone.server("2") == nil)
        _ = try await laptop.fetch(scan)
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album("2")?.scan == scan)
    }

    @Test func anObjectThatIsRemovedAndSetAgainKeepsItsFileThatIsNotHere() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let album = try #require(try laptop.album())
        // In one commit.
        try laptop.write {
            try $0.removeObject(forKey: "1", inCollection: "albums")
            try $0.setObject(album, forKey: "1", inCollection: "albums")
        }
        #expect(laptop.syncNow().state == .idle)
        // In two, as an undo makes them.
        try laptop.remove()
        try laptop.edit { $0 = album }
        #expect(laptop.syncNow().state == .needsAttention)
        laptop.sync.retry()
        #expect(laptop.syncNow().state == .needsAttention)
        #expect(laptop.server()?["scan"] != nil, "the deletion waits for the file")
        #expect(try await laptop.fetch(scan) == "scan")
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album() == album)
        #expect(try phone.text(scan) == "scan")
    }

    @Test func aFileThatIsTakenOutOfAnObjectLetsItGo() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.remove()
        try laptop.edit { $0.scan = scan }
        #expect(laptop.syncNow().state == .needsAttention)
        try laptop.edit { ($0.title, $0.scan) = ("Rome", nil) }
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album() == Album(title: "Rome"))
    }

    @Test func aRecordThatMovesToAnotherZoneTakesItsFileAlong() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.relaunch(zone: "moved")
        // The upgrade fetches everything again, and this file doesn't come.
        cloud.fail(.downloadAsset, with: .assetNotAvailable, on: laptop.device)
        #expect(laptop.syncNow().state == .needsAttention)
        laptop.sync.retry()
        #expect(laptop.syncNow().state == .needsAttention)
        #expect(phone.server()?["scan"] != nil, "the deletion waits for the file")
        #expect(try await laptop.fetch(scan) == "scan")
        #expect(laptop.syncNow().state == .idle)
        #expect(phone.server() == nil)
        try phone.relaunch(zone: "moved")
        phone.syncNow()
        #expect(try phone.album()?.scan == scan)
    }

    @Test func anUpgradeThatMovesRecordsFetchesTheirFilesFirst() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.relaunch(zone: "moved")
        #expect(laptop.syncNow().state == .idle)
        #expect(try laptop.text(scan) == "scan")
    }

    @Test func aFileThatIsTakenOutOfAMovedRecordLetsBothZonesGo() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.relaunch(zone: "moved")
        // The upgrade fetches everything again, and this file doesn't come.
        cloud.fail(.downloadAsset, with: .assetNotAvailable, on: laptop.device)
        #expect(laptop.syncNow().state == .needsAttention)
        try laptop.edit { $0.scan = nil }
        #expect(laptop.syncNow().state == .idle)
        #expect(phone.server() == nil)
    }

    @Test func aFileThatIsNotHereMovesToAnotherObject() async throws {
        let scan = try await phone.add("scan")
        try phone.edit("1") { $0.scan = scan }
        try phone.edit("2") { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.remove("1")
        try laptop.edit("2") { $0.scan = nil }
        try laptop.edit("3") { $0.scan = scan }
        #expect(laptop.syncNow().state == .needsAttention)
        #expect(phone.server("1")?["scan"] != nil && phone.server("2")?["scan"] != nil)
        #expect(try await laptop.fetch(scan, "3") == "scan")
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album("1") == nil && phone.album("2") == Album())
        #expect(try phone.album("3")?.scan == scan)
    }

    @Test func aFileIsFetchedFromAnyObjectThatHasIt() async throws {
        let scan = try await phone.add("scan")
        try phone.edit("1") { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit("2") { $0.scan = scan }
        laptop.syncNow()
        #expect(try await laptop.fetch(scan, "2") == "scan")
        #expect(laptop.syncNow().state == .idle)
        #expect(phone.server("2")?["scan"] != nil)
    }

    @Test func aChangeThatWaitedForAFileIsSentWhenTheFileArrives() async throws {
        let scan = try await phone.add("scan")
        try phone.edit("1") { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit("2") { $0.scan = scan }
        #expect(laptop.syncNow().state == .needsAttention)
        try phone.edit("3") { $0.cover = scan }
        phone.syncNow()
        #expect(laptop.syncNow().state == .idle)
        #expect(phone.server("2")?["scan"] != nil)
    }

    @Test func anObjectThatIsRemovedAfterAllWaitsForNoFile() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let album = try #require(try laptop.album())
        laptop.sync.suspend()
        try laptop.remove()
        try laptop.edit { $0 = album }
        try laptop.remove()
        laptop.sync.resume()
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album() == nil)
    }

    @Test func anObjectThatIsSetAgainWithoutItsFileFollowsItsRemoval() async throws {
        let scan = try await phone.add("scan")
        try phone.edit("1") { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit("2") { $0.scan = scan }
        try laptop.remove("1")
        try laptop.edit("1") { $0.title = "again" }
        #expect(laptop.syncNow().state == .needsAttention)
        #expect(phone.server("1")?["scan"] != nil)
        #expect(try await laptop.fetch(scan, "2") == "scan")
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album("1") == Album(title: "again") && phone.album("2")?.scan == scan)
    }

    @Test func ofALongListOnlyWhatIsNewIsSent() async throws {
        let first = try await phone.add("first")
        try phone.edit { $0.pages = [first] }
        phone.syncNow()
        let second = try await phone.add("second")
        let uploads = cloud.requestCount(.uploadAsset)
        try phone.edit { $0.pages.append(second) }
        #expect(phone.syncNow().state == .idle)
        #expect(cloud.requestCount(.uploadAsset) == uploads + 1)
        laptop.syncNow()
        #expect(try laptop.album()?.pages.map { try laptop.text($0) } == ["first", "second"])
    }

    @Test func aListWhoseFilesAreNotHereIsEditedWithoutFetchingThem() async throws {
        var files: [CloudFile] = []
        for text in ["a", "b", "c"] { files.append(try await phone.add(text)) }
        try phone.edit { [files] in $0.pages = files }
        phone.syncNow()
        cloud.fail(.downloadAsset, with: .assetNotAvailable, times: 3, on: laptop.device)
        laptop.syncNow()
        let page = try await laptop.add("d")
        try laptop.edit { $0.pages = [files[2], page, files[0]] }
        #expect(laptop.syncNow().state == .idle)
        #expect(laptop.names == [page.name])
        phone.syncNow()
        #expect(try phone.album()?.pages.map { try phone.text($0) } == ["c", "d", "a"])
        #expect(try await laptop.fetch(files[2]) == "c")
    }

    @Test func ofAListOnlyTheFileThatIsNotHereIsLeftOut() async throws {
        let (first, second) = (try await phone.add("first"), try await laptop.add("second"))
        try phone.edit { $0.pages = [first] }
        phone.syncNow()
        cloud.fail(.downloadAsset, with: .assetNotAvailable, on: laptop.device)
        laptop.syncNow()
        try phone.remove()
        phone.syncNow()
        try laptop.edit { $0.pages.append(second) }
        #expect(laptop.syncNow().state == .idle)
        phone.syncNow()
        #expect(try phone.album()?.pages == [second] && laptop.album()?.pages == [second])
    }

    @Test func aDiskThatTakesNoFileStopsTheFetchAndNothingIsLost() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        phone.syncNow()
        try Data().write(to: URL(fileURLWithPath: laptop.folder))
        #expect(laptop.syncNow().pause == .localDatabase)
        #expect(try laptop.album() == nil)
        await #expect(throws: YapDatabaseCloudKitError.self) { try await laptop.add("page") }
        try FileManager.default.removeItem(atPath: laptop.folder)
        laptop.sync.retry()
        laptop.syncNow()
        #expect(try laptop.text(laptop.album()?.cover) == "cover")
    }

    @Test func aFileThatCannotBeReadIsAnError() async throws {
        let url = URL(fileURLWithPath: phone.path + "-missing")
        await #expect(throws: YapDatabaseCloudKitError.fileUnreadable(path: url.path, errno: ENOENT)) {
            try await phone.sync.files.add(copyOf: url)
        }
        #expect(phone.names.isEmpty)
    }

    // MARK: Unused files

    /// Lets the removal run as often as it takes for a file to be marked and removed.
    private func removeUnused() throws {
        for _ in 0..<3 { try phone.sync.files.removeUnusedInline(unusedSeconds: 0) }
    }

    @Test func aFileIsKeptAsLongAsAnObjectOrAPendingChangeHasIt() async throws {
        var files: [CloudFile] = []
        for text in ["cover", "page", "waiting", "draft", "unused"] {
            files.append(try await phone.add(text))
        }
        try phone.edit { ($0.cover, $0.pages, $0.scan) = (files[0], [files[1]], files[2]) }
        // The record was never saved: the queue has its former value too.
        try phone.edit { $0.scan = nil }
        try phone.write {
            try $0.setObject(AlbumDraft(notes: ["a": files[3]]), forKey: "1", inCollection: "drafts")
        }
        try removeUnused()
        #expect(try phone.text(files[4]) == nil)
        #expect(try files.prefix(4).map { try phone.text($0) } == ["cover", "page", "waiting", "draft"])
        phone.syncNow()
        try removeUnused()
        #expect(phone.names == [files[0], files[1], files[3]].map(\.name).sorted())
        laptop.syncNow()
        #expect(try laptop.text(files[0]) == "cover")
    }

    @Test func anUnusedFileIsKeptForADay() async throws {
        let file = try await phone.add("cover")
        for _ in 0..<3 { try await phone.sync.files.removeUnused() }
        #expect(phone.names == [file.name])
        // Old, but found unused only now.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: phone.folder + "/" + file.name)
        for _ in 0..<3 { try await phone.sync.files.removeUnused() }
        #expect(phone.names == [file.name, file.name + ".unused"])
        // Stored in an object again: it is young, and its mark is removed.
        try phone.edit { $0.cover = file }
        try await phone.sync.files.removeUnused()
        #expect(phone.names == [file.name])
    }

    @Test func aFileThatWasUsedSinceItWasMarkedIsMarkedAnew() throws {
        let folder = phone.fileFolder
        let file = try folder.add(Data("cover".utf8))
        try folder.removeUnused(unusedSeconds: 0) { [] }
        for (name, seconds) in [(file.name, 2.0), (file.name + ".unused", 1.0)] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: seconds)],
                ofItemAtPath: folder.paths.folder + "/" + name)
        }
        for _ in 0..<2 { try folder.removeUnused(unusedSeconds: 3600) { [] } }
        #expect(phone.names == [file.name, file.name + ".unused"])
    }

    @Test func whatACrashLeftOfAFileIsRemoved() async throws {
        let file = try await phone.add("cover")
        try phone.edit { $0.cover = file }
        try Data("half".utf8).write(to: URL(fileURLWithPath: phone.folder + "/.new-1"))
        try phone.sync.files.removeUnusedInline()
        #expect(phone.names == [".new-1", file.name])
        try removeUnused()
        #expect(phone.names == [file.name])
    }

    @Test(arguments: [AlbumDevice.Drafts.inAFormOfItsOwn, .unregistered])
    func nothingIsRemovedWhereObjectsCannotBeSearched(_ drafts: AlbumDevice.Drafts) async throws {
        let device = try AlbumDevice(cloud, drafts: drafts == .unregistered ? .registered : drafts)
        let file = try await device.add("draft")
        try device.write {
            try $0.setObject(AlbumDraft(notes: ["a": file]), forKey: "1", inCollection: "drafts")
        }
        if drafts == .unregistered { try device.relaunch(drafts: drafts) }
        for _ in 0..<3 { try device.sync.files.removeUnusedInline(unusedSeconds: 0) }
        #expect(device.names == [file.name])
    }

    @Test func aFileThatIsAddedWhileUnusedOnesAreRemovedIsKept() async throws {
        let folder = phone.fileFolder
        let file = try folder.add(Data("cover".utf8))
        try folder.removeUnused(unusedSeconds: 0) { [] }
        let path = folder.paths.path(of: file)
        for name in [path, path + ".unused"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: name)
        }
        // Added again after the objects were searched.
        try folder.removeUnused(unusedSeconds: 3600) {
            _ = try folder.add(Data("cover".utf8))
            return []
        }
        #expect(folder.paths.contain(file))
    }
}

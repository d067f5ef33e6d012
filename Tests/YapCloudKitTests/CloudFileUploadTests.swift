import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// What can happen to a file, and to a change that waits for one, before the server has it.
@Suite struct CloudFileUploadTests {
    let cloud: TestCloud
    let phone: AlbumDevice
    let laptop: AlbumDevice

    init() throws {
        cloud = TestCloud()
        phone = try AlbumDevice(cloud)
        laptop = try AlbumDevice(cloud)
    }

    @Test(
        "191. a save with a file whose response was lost is done once: deleted meanwhile, it doesn't come back"
    )
    func aRepeatedSaveWithAFile() async throws {
        let (cover, page) = (try await phone.add("cover"), try await phone.add("page"))
        try phone.edit { ($0.cover, $0.pages) = (cover, [page]) }
        cloud.loseReplies(.modifyRecords, on: phone.device)
        phone.syncNow()
        laptop.syncNow()
        try laptop.remove()
        laptop.syncNow()
        cloud.clock.advance(bySeconds: 60)
        #expect(phone.syncNow().state == .idle && laptop.syncNow().state == .idle)
        #expect(cloud.requestCount(.uploadAsset) == 4, "the files were sent again")
        #expect(try phone.album() == nil && laptop.album() == nil)
    }

    @Test(
        "192. an upload address that the server has lost is replaced, and nothing is quarantined",
        arguments: 1...2)
    func aLostUploadAddress(times: Int) async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        cloud.fail(.uploadAsset, with: .unknownItem, times: times, on: phone.device)
        let status = phone.syncNow()
        #expect(times == 1 ? status.state == .idle : status.pause == .server(.assetNotAvailable))
        try await arrives(cover)
    }

    @Test func anUploadThatTheServerHasLostIsSentAgain() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        cloud.fail(
            .modifyRecords, of: CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID),
            with: .assetNotAvailable, on: phone.device)
        #expect(phone.syncNow().pause == .server(.assetNotAvailable))
        try await arrives(cover)
        #expect(cloud.requestCount(.uploadAsset) == 2)
    }

    @Test func anUploadThatTheServerLosesEachTimeIsQuarantined() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        cloud.fail(
            .modifyRecords, of: CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID),
            with: .assetNotAvailable, times: 100, on: phone.device)
        for _ in 1...10 {
            phone.syncNow()
            cloud.clock.advance(bySeconds: 3_600)
        }
        #expect(phone.sync.currentStatus.problems.count == 1)
        let requests = cloud.requestCount(.uploadAsset)
        phone.syncNow()
        #expect(cloud.requestCount(.uploadAsset) == requests, "quarantined")
    }

    @Test func aFileThatCannotBeSentLeavesTheNameOfAWrite() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        cloud.loseReplies(.modifyRecords, on: phone.device)
        phone.syncNow()
        laptop.syncNow()
        try laptop.remove()
        laptop.syncNow()
        // The address is refused twice: nothing of the record goes out.
        cloud.fail(.uploadAsset, with: .unknownItem, times: 2, on: phone.device)
        for _ in 1...3 {
            cloud.clock.advance(bySeconds: 3_600)
            phone.syncNow()
        }
        #expect(phone.sync.currentStatus.state == .idle && laptop.syncNow().state == .idle)
        #expect(try phone.album() == nil && laptop.album() == nil)
    }

    @Test("195. a file that is added once more while it is sent counts as unchanged")
    func aFileThatIsAddedOnceMoreWhileItIsSent() async throws {
        let cover = try await phone.add("cover")
        try phone.edit { $0.cover = cover }
        cloud.during(.uploadAsset, on: phone.device) { [sync = phone.sync] in
            _ = try? sync.files.addInline(Data("cover".utf8))
        }
        #expect(phone.syncNow().state == .idle)
        try await arrives(cover)
    }

    private func arrives(_ cover: CloudFile) async throws {
        cloud.clock.advance(bySeconds: 60)
        #expect(phone.syncNow().state == .idle && laptop.syncNow().state == .idle)
        #expect(try laptop.album()?.cover == cover && laptop.text(cover) == "cover")
        #expect(phone.sync.currentStatus.problems.isEmpty)
    }

    @Test(
        "193. a change that waits for a file is dropped if its record was deleted while another user was signed in"
    )
    func aWaitingChangeOfADeletedRecord() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        try phone.edit("2") { $0.title = "Rome" }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit { $0.cover = scan }
        #expect(laptop.syncNow().problems.count == 1, "the file isn't here")
        func use(_ name: String) throws {
            _ = try laptop.sync.useAccountInline(
                of: CKRecord.ID(recordName: name), objectsOfOtherAccount: .remove)
        }
        try use("_eve")
        try phone.remove()
        phone.syncNow()
        try use("_ada")
        laptop.syncNow()
        try laptop.remove("2")
        #expect(laptop.syncNow().state == .idle && phone.syncNow().state == .idle)
        #expect(try laptop.album() == nil && phone.album() == nil && phone.album("2") == nil)
        let lost = laptop.log.withLock { $0.filter { $0.kind == .lost && $0.field == "cover" } }
        #expect(lost.map(\.dropped) == [scan.description])
    }

    @Test func aCopiedFileThatWasReplacedBeforeItsBytesArrivedIsLoggedAsSuperseded() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        try laptop.edit { $0.cover = scan }
        try laptop.edit { $0.cover = nil }
        #expect(laptop.syncNow().state == .idle)
        let superseded = laptop.log.withLock { $0.filter { $0.kind == .superseded } }
        #expect(superseded.map(\.field) == ["cover"] && superseded.map(\.replaced) == [scan.description])
        #expect(try laptop.album()?.scan == scan)
    }

    @Test func aReplacedFileIsLoggedAsSupersededWhenItsCopyIsDeletedWithItsRecord() async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let cover = try await laptop.add("cover")
        try laptop.edit { $0.cover = cover }
        try laptop.edit { $0.cover = scan }
        try phone.remove()
        phone.syncNow()
        #expect(laptop.syncNow().state == .idle)
        let entries = laptop.log.withLock { $0.filter { $0.field == "cover" } }
        #expect(entries.filter { $0.kind == .superseded }.map(\.replaced) == [cover.description])
        #expect(entries.filter { $0.kind == .lost }.map(\.dropped) == [scan.description])
    }

    @Test(
        "196. a list that keeps a part of one that was sent without its files is sent with them",
        arguments: [false, true])
    func aPartOfAListThatWasReplacedBeforeItsBytesArrived(hasTheRest: Bool) async throws {
        let scan = try await phone.add("scan")
        try phone.edit { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        let page = try await laptop.add("page")
        try laptop.edit { $0.pages = [page, scan] }
        try laptop.edit { $0.pages = hasTheRest ? [page] : [scan] }
        let status = laptop.syncNow()
        if !hasTheRest {
            #expect(status.problems.count == 1, "the file isn't here")
            _ = try await laptop.fetch(scan)
        }
        #expect(laptop.syncNow().state == .idle && phone.syncNow().state == .idle)
        #expect(try phone.album()?.pages == (hasTheRest ? [page] : [scan]))
    }

    @Test func whatAChangeWithoutItsFilesLeavesOutStaysOnTheServer() async throws {
        let (scan, page) = (try await phone.add("scan"), try await phone.add("page"))
        try phone.edit { ($0.scan, $0.cover) = (scan, page) }
        try phone.edit("2") { $0.scan = scan }
        phone.syncNow()
        laptop.syncNow()
        // The laptop doesn't have the scan. What replaces it takes nothing from the server on its way.
        try laptop.edit { ($0.pages, $0.title) = ([scan], "Rome") }
        try laptop.edit { $0.pages = [] }
        cloud.loseReplies(.modifyRecords, on: laptop.device)
        laptop.syncNow()
        #expect(try #require(phone.server()).object(forKey: "pages") == nil)
        cloud.clock.advance(bySeconds: 60)
        #expect(laptop.syncNow().state == .idle && phone.syncNow().state == .idle)
        #expect(try phone.album()?.title == "Rome" && phone.album()?.cover == page)
        #expect(try phone.album()?.scan == scan && laptop.album()?.scan == scan)
    }

    @Test("196. a list that returns to the server's value keeps it")
    func aListThatReturnsToTheServersValue() async throws {
        let (scan, other) = (try await phone.add("scan"), try await phone.add("other"))
        try phone.edit { ($0.pages, $0.scan) = ([other], scan) }
        phone.syncNow()
        laptop.syncNow()
        #expect(laptop.sync.files.url(of: scan) == nil)
        try laptop.edit { $0.pages = [other, scan] }
        try laptop.edit { $0.pages = [other] }
        #expect(laptop.syncNow().state == .idle && phone.syncNow().state == .idle)
        #expect(try phone.album()?.pages == [other] && laptop.album()?.pages == [other])
        #expect(laptop.sync.currentStatus.problems.isEmpty)
    }
}

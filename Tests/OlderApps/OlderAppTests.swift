import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import Testing

/// Code in the manner of three times compiles unchanged, and does what it did.
@Suite struct OlderAppTests {
    private let cloud = TestCloud()

    @Test func aManagerOf2016SavesQueriesAndPages() {
        let manager = cloud.device(user: "ada").asDefault { BookmarkManager() }
        var saved = 0
        for rank in 0..<4 {
            manager.saveBookmark(title: "b\(rank)", url: "http://x.example", rank: rank) {
                saved += $0 ? 1 : 0
            }
        }
        #expect(saved == 4 && manager.bookmarks.count == 4)
        var titles = [String]()
        manager.fetchFirst(2) { titles += $0 }
        #expect(titles == ["b3", "b2"])
        #expect(manager.fetchNext(2) { titles += $0 } != nil)
        #expect(
            titles == ["b3", "b2", "b1"] && manager.fetchNext(2) { _ in } == nil && manager.lastError == nil)
        let record = manager.bookmarks.values.first
        #expect(record?.value(forKey: "tags") as? [String] == ["new", "unread"])
        #expect(record?.object(forKey: "url") as? String == "http://x.example")
    }

    @Test func aManagerOf2016IsNotifiedOfABookmarkWithItsFields() async throws {
        let phone = cloud.device(user: "ada").asDefault { BookmarkManager() }
        let laptop = cloud.device(user: "ada").asDefault { BookmarkManager() }
        phone.saveBookmark(title: "first", url: "x", rank: 1) { _ in }
        var problem: NSError?
        laptop.subscribe { problem = $0 }
        #expect(problem == nil)
        var pushes = laptop.container.notifications().makeAsyncIterator()
        _ = await pushes.next()
        phone.saveBookmark(title: "second", url: "x", rank: 2) { _ in }
        cloud.deliverPushes()
        guard case .notification(let push as CKQueryNotification)? = await pushes.next() else {
            Issue.record("no push of a query came")
            return
        }
        #expect(push.alertLocalizationKey == "NEW_BOOKMARK" && push.alertLocalizationArgs == ["second"])
        #expect(push.recordFields?["rank"] as? Int == 2)
        let payload: [AnyHashable: Any] = [
            "aps": ["alert": ["loc-key": "NEW_BOOKMARK"]],
            "ck": [
                "cid": "x", "nid": "1",
                "qry": [
                    "sid": "s", "rid": "r", "zid": "_defaultZone", "fo": 1, "dbs": 2,
                    "af": ["title": "third"],
                ]
                    as [String: Any],
            ] as [String: Any],
        ]
        #expect(laptop.didReceiveRemoteNotification(payload) == "third")
        #expect(laptop.didReceiveRemoteNotification(["aps": ["alert": "Hello"] as NSDictionary]) == nil)
    }

    @Test func aManagerOf2016ReadsCodesAndPausesFromAnNSError() {
        let manager = cloud.device(user: "ada").asDefault { BookmarkManager() }
        cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 12)
        manager.saveBookmark(title: "x", url: "x", rank: 1) { #expect(!$0) }
        #expect(manager.lastError?.domain == CKErrorDomain && manager.lastError?.code == 7)
        #expect(manager.lastError.flatMap(manager.retryDelay) == 12)
        cloud.fail(.queryRecords, with: .networkFailure)
        manager.fetchFirst(1) { #expect($0.isEmpty) }
        #expect(manager.lastError.flatMap(manager.retryDelay) == 3)
    }

    @Test func aDiaryOf2018MakesItsZoneHalvesAndMerges() async throws {
        let phone = Diary(container: cloud.device(user: "ada").container)
        let laptop = Diary(container: cloud.device(user: "ada").container)
        let merges = Merges()
        laptop.delegate = merges
        var problems: [Error?] = []
        phone.upload((0..<450).map { phone.entry("\($0)", "day \($0)") }) { problems.append($0) }
        #expect(problems.count == 1 && problems[0] == nil && !phone.batches.isEmpty)

        let stale = try await laptop.database.record(for: phone.entry("7", "").recordID)
        let fresh = try await phone.database.record(for: stale.recordID)
        fresh["text"] = "day 7, sunny"
        phone.upload([fresh]) { problems.append($0) }
        stale["text"] = "day 7, with cake"
        laptop.upload([stale, laptop.entry("new", "one more")]) { problems.append($0) }
        #expect(problems.count == 3 && problems[1] == nil && problems[2] == nil)
        #expect(merges.names == ["7"])
        let merged = try await phone.database.record(for: stale.recordID)
        #expect(merged["text"] == "day 7, sunny\nday 7, with cake")
        #expect(try await phone.database.record(for: laptop.entry("new", "").recordID)["text"] == "one more")

        cloud.fail(.modifyRecords, with: .limitExceeded)
        phone.upload((0..<8).map { phone.entry("half \($0)", "x") }) { problems.append($0) }
        #expect(problems.count == 4 && problems[3] == nil && phone.batches.suffix(3) == [8, 4, 4])
    }

    @Test func aLibraryOf2021FollowsBothFeeds() async throws {
        let name = "OlderApps-\(UUID())"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        let phone = cloud.device(user: "ada").container.privateCloudDatabase
        let laptop = LibrarySync(
            database: cloud.device(user: "ada").container.privateCloudDatabase, defaults: defaults)
        let zones = ["fiction", "science"].map { CKRecordZone(zoneName: $0) }
        _ = try await phone.modifyRecordZones(saving: zones, deleting: [])
        let books = (0..<5).map { number in
            let id = CKRecord.ID(recordName: "\(number)", zoneID: zones[number % 2].zoneID)
            let book = CKRecord(recordType: "book", recordID: id)
            book["title"] = "t\(number)"
            book["text"] = "long"
            return book
        }
        _ = try await phone.modifyRecords(saving: books, deleting: [])
        var counts: [Int] = []
        laptop.fetchChanges { counts.append((try? $0.get()) ?? -1) }
        laptop.fetchChanges { counts.append((try? $0.get()) ?? -1) }
        #expect(counts == [5, 0])
        let saved = (0..<5).map { LibrarySync.Change.saved("\($0)", "t\($0)") }
        #expect(saved.allSatisfy(laptop.changes.contains) && laptop.changes.count == 5)
        try await phone.deleteRecord(withID: books[0].recordID)
        try await phone.deleteRecordZone(withID: zones[1].zoneID)
        laptop.fetchChanges { counts.append((try? $0.get()) ?? -1) }
        #expect(counts.last == 1 && laptop.changes.count == 7)
        #expect(
            laptop.changes.contains(.deleted("0", "book")) && laptop.changes.contains(.zoneGone("science")))
    }

    private final class Merges: DiaryDelegate {
        var names: [String] = []
        func diary(_ diary: Diary, didMerge record: CKRecord) { names.append(record.recordID.recordName) }
    }
}

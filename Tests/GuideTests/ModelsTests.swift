import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// `docs/guide/MODELS.md`: its blocks stand in this folder, and do what the page says.
@Suite struct ModelsTests {
    @Test func anObjectIsStoredChangedAndRemoved() async throws {
        let folder = try Folder()
        let url = folder.url.appending(component: "bookmarks.yap")
        let database = try YapDatabase(url: url) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
            $0.register(Draft.self, inCollection: "drafts")
        }
        let connection = database.newConnection()
        try await connection.readWrite { transaction in
            let bookmark = Bookmark(title: "Swift", tags: ["language"])
            try transaction.setObject(bookmark, forKey: "https://swift.org", inCollection: "bookmarks")
            try transaction.setObject(Draft(text: "Read more"), forKey: "1", inCollection: "drafts")
        }
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        try await connection.readWrite { transaction in
            let key = "https://swift.org"
            guard
                var bookmark = try transaction.object(
                    Bookmark.self, forKey: key, inCollection: "bookmarks")
            else { return }
            bookmark.readAt = now
            try transaction.setObject(bookmark, forKey: key, inCollection: "bookmarks")
        }
        let read = try await connection.read {
            try $0.object(Bookmark.self, forKey: "https://swift.org", inCollection: "bookmarks")
        }
        #expect(read == Bookmark(title: "Swift", tags: ["language"], readAt: now))
        try await connection.readWrite { transaction in
            try transaction.removeObject(forKey: "https://swift.org", inCollection: "bookmarks")
            try transaction.removeAllObjects(inCollection: "drafts")
        }
        let left = try await connection.read { try $0.numberOfKeysInAllCollections() }
        #expect(left == 0)
    }

    @Test func everyTypeOfTheTableReachesTheOtherDevice() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let phone = try await Device(cloud.device(user: "ada"), folder, "phone.yap")
        let laptop = try await Device(cloud.device(user: "ada"), folder, "laptop.yap")
        let drawing = Drawing(
            size: Size(width: 2, height: 1), colors: ["red", "blue"], corners: [Size(width: 1, height: 0)])
        try await phone.set(EveryType.filled, "1", "everything")
        try await phone.set(drawing, "drawing", "drawings")
        #expect(await phone.sync.syncNow().state == .idle)
        await laptop.sync.syncNow()
        let everything: EveryType? = try await laptop.object("1", "everything")
        #expect(everything == .filled)
        let drawn: Drawing? = try await laptop.object("drawing", "drawings")
        #expect(drawn == drawing)
        // What is taken away takes its default there.
        try await phone.set(EveryType(), "1", "everything")
        try await phone.set(Drawing(), "drawing", "drawings")
        await phone.sync.syncNow()
        await laptop.sync.syncNow()
        let nothing: EveryType? = try await laptop.object("1", "everything")
        #expect(nothing == EveryType())
        let blank: Drawing? = try await laptop.object("drawing", "drawings")
        #expect(blank == Drawing())
    }

    @Test func whatIsNoFieldStaysOnTheDeviceAndFieldsHaveTheirNames() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let device = cloud.device(user: "ada")
        let phone = try await Device(device, folder, "phone.yap")
        let laptop = try await Device(cloud.device(user: "ada"), folder, "laptop.yap")
        let image = URL(string: "https://swift.org/logo.png")
        let bookmark = Bookmark(
            title: "Swift", kind: .video, readAt: Date(timeIntervalSince1970: 7), image: image,
            scrolledTo: 0.5)
        try await phone.set(bookmark, "1", "bookmarks")
        await phone.sync.syncNow()
        let id = CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID)
        let record = try await device.container.privateCloudDatabase.record(for: id)
        #expect(record.recordType == "bookmark")
        #expect(record.allKeys().sorted() == ["image", "kind", "rating", "read", "title"])
        #expect(record["kind"] as? String == "video")
        await laptop.sync.syncNow()
        let there: Bookmark? = try await laptop.object("1", "bookmarks")
        var expected = bookmark
        expected.scrolledTo = 0
        #expect(there == expected)
    }

    @Test func theRulesOfThePageKeepWhatBothDevicesDid() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let devices = [cloud.device(user: "ada"), cloud.device(user: "ada")]
        let phone = try await Device(devices[0], folder, "phone.yap")
        let laptop = try await Device(devices[1], folder, "laptop.yap")
        try await phone.set(Bookmark(title: "Swift", tags: ["old", "both"], rating: 1), "1", "bookmarks")
        await phone.sync.syncNow()
        await laptop.sync.syncNow()
        for device in devices { cloud.disconnect(device) }
        try await phone.set(
            Bookmark(title: "Swift", tags: ["old", "both", "phone"], rating: 5), "1", "bookmarks")
        try await laptop.set(
            Bookmark(title: "Swift 6", tags: ["both", "laptop"], rating: 3), "1", "bookmarks")
        for device in devices { cloud.connect(device) }
        for device in [phone, laptop, phone] {
            device.sync.networkMayBeBack()
            #expect(await device.sync.syncNow().state == .idle)
        }
        let here: Bookmark? = try await phone.object("1", "bookmarks")
        let there: Bookmark? = try await laptop.object("1", "bookmarks")
        #expect(here == there)
        #expect(here?.title == "Swift 6" && here?.rating == 5)
        #expect(here?.tags.sorted() == ["both", "laptop", "phone"])
    }

    @Test func whatNoFieldCanHoldIsRefusedAndWhatNoPropertyCanLeavesIt() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let device = cloud.device(user: "ada")
        let phone = try await Device(device, folder, "phone.yap")
        await #expect(throws: (any Error).self) {
            try await phone.set(EveryType(double: .nan), "nan", "everything")
        }
        let refused: EveryType? = try await phone.object("nan", "everything")
        #expect(refused == nil)
        try await phone.set(EveryType(int8: 8), "number", "everything")
        try await phone.set(Bookmark(title: "Swift", kind: .video), "case", "bookmarks")
        await phone.sync.syncNow()

        // A later version of the app writes what this one doesn't know.
        let database = device.container.privateCloudDatabase
        let ids = ["number", "case"].map { CKRecord.ID(recordName: $0, zoneID: phone.sync.zoneID) }
        let number = try await database.record(for: ids[0]), unknown = try await database.record(for: ids[1])
        number["int8"] = 300
        unknown["kind"] = "podcast"
        _ = try await database.modifyRecords(saving: [number, unknown], deleting: [])
        await phone.sync.syncNow()
        let everything: EveryType? = try await phone.object("number", "everything")
        #expect(everything?.int8 == 8)
        let bookmark: Bookmark? = try await phone.object("case", "bookmarks")
        #expect(bookmark?.kind == .video)
        try await phone.set(Bookmark(title: "Swift 6", kind: .video), "case", "bookmarks")
        #expect(await phone.sync.syncNow().state == .idle)
        let after = try await database.record(for: ids[1])
        #expect(after["title"] as? String == "Swift 6" && after["kind"] as? String == "podcast")
    }
}

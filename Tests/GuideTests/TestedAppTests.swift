import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// An app with objects that `CloudSync` keeps the same: what its window and its commands share.
private struct BookmarkApp {
    let database: YapDatabase
    let sync: CloudSync

    init(file: URL, container: CKContainer) async throws {
        database = try YapDatabase(url: file) { $0.register(Bookmark.self, inCollection: "bookmarks") }
        sync = try await CloudSync(
            database, container: container,
            models: [.model(Bookmark.self, collection: "bookmarks")], zone: "bookmarks")
    }
}

/// The recipe of `docs/TESTING.md` for an app with `CloudSync`.
@Suite struct TestedAppTests {
    private let files: Folder
    private var folder: URL { files.url }

    init() throws { files = try Folder() }

    @Test func anAppWithCloudSyncIsTestedOnTwoDevices() async throws {
        let cloud = TestCloud(execution: .threads)
        let phone = try await BookmarkApp(
            file: folder.appending(component: "phone.yap"), container: cloud.device(user: "ada").container)
        let laptop = try await BookmarkApp(
            file: folder.appending(component: "laptop.yap"), container: cloud.device(user: "ada").container)
        try await phone.database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        #expect(await phone.sync.syncNow().state == .idle)
        #expect(await laptop.sync.syncNow().state == .idle)
        let found = try await laptop.database.newConnection().read {
            try $0.object(Bookmark.self, forKey: "1", inCollection: "bookmarks")
        }
        #expect(found?.title == "Swift")
    }

    @Test func anAppWithCloudSyncIsTestedInAConflict() async throws {
        let cloud = TestCloud(execution: .threads)
        let devices = [cloud.device(user: "ada"), cloud.device(user: "ada")]
        let phone = try await BookmarkApp(
            file: folder.appending(component: "phone.yap"), container: devices[0].container)
        let laptop = try await BookmarkApp(
            file: folder.appending(component: "laptop.yap"), container: devices[1].container)
        try await phone.database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        #expect(await phone.sync.syncNow().state == .idle)
        #expect(await laptop.sync.syncNow().state == .idle)
        cloud.disconnect(devices[0])
        cloud.disconnect(devices[1])
        try await phone.database.newConnection().readWrite { transaction in
            try transaction.setObject(
                Bookmark(title: "Swift", rating: 5), forKey: "1", inCollection: "bookmarks")
        }
        try await laptop.database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift 6"), forKey: "1", inCollection: "bookmarks")
        }
        cloud.connect(devices[0])
        cloud.connect(devices[1])
        try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
        for app in [phone, laptop] {
            let found = try await app.database.newConnection().read {
                try $0.object(Bookmark.self, forKey: "1", inCollection: "bookmarks")
            }
            #expect(found == Bookmark(title: "Swift 6", rating: 5))
        }
    }

    @Test func anAppWithCloudSyncIsTestedOffline() async throws {
        let cloud = TestCloud(execution: .threads)
        let device = cloud.device(user: "ada")
        let phone = try await BookmarkApp(
            file: folder.appending(component: "phone.yap"), container: device.container)
        cloud.disconnect(device)
        try await phone.database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        let offline = await phone.sync.syncNow()
        #expect(offline.state == .waiting && offline.pause == .network && offline.pendingCount == 1)
        cloud.connect(device)
        let online = await phone.sync.syncNow()
        #expect(online.state == .idle)
        // While nothing is pending, a sync only fetches. Notifications come back in their own time, with a fetch.
        let before = cloud.requests.count
        await phone.sync.syncNow()
        let ofNotifications: [RequestKind?] = [.createDeviceToken, .registerDeviceToken]
        let kinds = cloud.requests.dropFirst(before).map(\.kind).filter { !ofNotifications.contains($0) }
        #expect(Set(kinds) == [.fetchRecordZoneChanges])
    }
}

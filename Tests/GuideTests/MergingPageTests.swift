import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// `docs/guide/MERGING.md`: its code is here, and does what the page says.
@Suite struct MergingPageTests {
    private let folder: Folder
    private let cloud = TestCloud(execution: .threads)
    private let phone: Device
    private let laptop: Device

    init() async throws {
        folder = try Folder()
        phone = try await Device(cloud.device(user: "ada"), folder, "phone.yap")
        laptop = try await Device(cloud.device(user: "ada"), folder, "laptop.yap")
    }

    /// Both devices have the bookmark, and are offline until `whileOffline` returns.
    private func edit(whileOffline: () async throws -> Void) async throws {
        try await phone.set(Bookmark(title: "Swift"), "1", "bookmarks")
        try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
        phone.sync.suspend()
        laptop.sync.suspend()
        try await whileOffline()
        phone.sync.resume()
        laptop.sync.resume()
    }

    @Test func changesOfDifferentFieldsAreBothKept() async throws {
        try await edit {
            try await phone.set(Bookmark(title: "Swift", kind: .video), "1", "bookmarks")
            try await laptop.set(Bookmark(title: "Swift 6"), "1", "bookmarks")
        }
        try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
        let merged: Bookmark? = try await laptop.object("1", "bookmarks")
        #expect(merged == Bookmark(title: "Swift 6", kind: .video))
    }

    @Test func rulesMergeAFieldThatBothChanged() async throws {
        try await edit {
            try await phone.set(Bookmark(title: "Swift", tags: ["phone"], rating: 5), "1", "bookmarks")
            try await laptop.set(Bookmark(title: "Swift", tags: ["laptop"], rating: 3), "1", "bookmarks")
        }
        try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
        let merged: Bookmark? = try await laptop.object("1", "bookmarks")
        #expect(merged?.rating == 5)
        #expect(Set(merged?.tags ?? []) == ["laptop", "phone"])
    }
}

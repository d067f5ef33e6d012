import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// What `docs/guide/UNDO.md` says of sync: an undo goes to the other devices, and what they changed stays.
@Suite struct UndoSyncTests {
    private let log = YapDatabaseUndo("undo", in: ["bookmarks"])

    @Test func anUndoReachesTheOtherDeviceAndWhatThatOneChangedStays() async throws {
        let folder = try Folder()
        let cloud = TestCloud(execution: .threads)
        let phone = try await Device(cloud.device(user: "ada"), folder, "phone.yap")
        let laptop = try await Device(cloud.device(user: "ada"), folder, "laptop.yap")
        try await phone.database.register(log)
        for key in ["changed", "removed"] { try await phone.set(Bookmark(title: "Swift"), key, "bookmarks") }
        try await phone.connection.readWrite { transaction in
            try transaction[log].group("Tidy Up") {
                try transaction.setObject(
                    Bookmark(title: "Swift 6"), forKey: "changed", inCollection: "bookmarks")
                try transaction.removeObject(forKey: "removed", inCollection: "bookmarks")
            }
        }
        func sync() async {
            await phone.sync.syncNow()
            await laptop.sync.syncNow()
            await phone.sync.syncNow()
        }
        await sync()
        let removed: Bookmark? = try await laptop.object("removed", "bookmarks")
        #expect(removed == nil)
        try await laptop.set(Bookmark(title: "Swift 6", rating: 5), "changed", "bookmarks")
        await laptop.sync.syncNow()
        await sync()
        let result = try await phone.connection.readWrite { transaction in
            #expect(throws: YapDatabaseUndoConflict.self) { try transaction[log].undo() }
            return try transaction[log].undo(.skipChangedRows)
        }
        #expect(result?.skippedRows.map(\.key) == ["changed"])
        await sync()
        for device in [phone, laptop] {
            #expect(try await device.object("changed", "bookmarks") == Bookmark(title: "Swift 6", rating: 5))
            #expect(try await device.object("removed", "bookmarks") == Bookmark(title: "Swift"))
        }
    }
}

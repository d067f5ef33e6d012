import Foundation
import Testing
import Yap

private struct MissingTitle: Error {
    let key: String
}

let stamps = YapDatabaseHooks(
    "stamps", of: Bookmark.self, in: "bookmarks",
    willModify: { change, transaction in
        if try change.object?.title.isEmpty == true { throw MissingTitle(key: change.key) }
    },
    didModify: { change, transaction in
        guard change.kind.contains(.inserted), let bookmark = try change.object else { return }
        try transaction.setObject(Draft(text: bookmark.title), forKey: change.key, inCollection: "drafts")
    },
    didRemove: { row, transaction in
        try transaction.removeObject(forKey: row.key, inCollection: "drafts")
    })

/// `docs/guide/HOOKS.md`: its blocks stand here, and do what the page says.
@Suite struct HooksPageTests {
    @Test func hooksKeepRowsConsistentAndRejectWrites() async throws {
        let folder = try Folder()
        let database = try YapDatabase(url: folder.url.appending(component: "hooks.yap")) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
            $0.register(Draft.self, inCollection: "drafts")
        }
        let connection = database.newConnection()
        try await database.register(stamps)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let log: @Sendable (String) -> Void = { continuation.yield($0) }
        let removals = YapDatabaseHooks(
            "removals", in: ["bookmarks", "drafts"],
            didRemove: { row, transaction in log("removed \(row.key) from \(row.collection)") })
        try await database.register(removals)
        try await connection.readWrite {
            try $0.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        await #expect(throws: MissingTitle.self) {
            try await connection.readWrite {
                try $0.setObject(Bookmark(), forKey: "2", inCollection: "bookmarks")
            }
        }
        let draft = try await connection.read {
            try $0.object(Draft.self, forKey: "1", inCollection: "drafts")
        }
        #expect(draft?.text == "Swift")
        try await connection.readWrite { try $0.removeObject(forKey: "1", inCollection: "bookmarks") }
        continuation.finish()
        var removed: [String] = []
        for await line in lines { removed.append(line) }
        #expect(removed.sorted() == ["removed 1 from bookmarks", "removed 1 from drafts"])
    }
}

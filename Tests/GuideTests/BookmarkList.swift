import Foundation
import Yap

/// A database with bookmarks in a folder of its own.
struct BookmarkList {
    let folder: Folder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init(_ bookmarks: [(key: String, bookmark: Bookmark)]) async throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "list.yap")) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        connection = database.newConnection()
        try await connection.readWrite { transaction in
            for (key, bookmark) in bookmarks {
                try transaction.setObject(bookmark, forKey: key, inCollection: "bookmarks")
            }
        }
    }
}

import Foundation
import Testing
import Yap

struct BookmarkInfo: Codable, Sendable {
    var downloadedAt: Date?
    var author = ""
}

let byDownload = YapDatabaseSecondaryIndex("byDownload", of: Bookmark.self, in: "bookmarks", version: "1") {
    $0.column(\.rating)
    $0.column(metadata: \BookmarkInfo.downloadedAt)
}

let byAuthor = YapDatabaseFullTextSearch("byAuthor", of: Bookmark.self, in: "bookmarks", version: "1") {
    $0.column(\.title)
    $0.column(metadata: \BookmarkInfo.author)
}

let reminders = YapDatabaseActionManager(
    "reminders", of: Bookmark.self, metadata: BookmarkInfo.self, in: "bookmarks", version: "1"
) { bookmark, info in
    guard bookmark.readAt == nil, let downloadedAt = info?.downloadedAt else { return [] }
    return [YapDatabaseAction("read", at: downloadedAt.addingTimeInterval(86_400))]
}

/// What `docs/guide/QUERIES.md`, `SEARCH.md` and `ACTIONS.md` show of metadata.
@Suite struct MetadataPagesTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "metadata.yap")) {
            $0.register(Bookmark.self, metadata: BookmarkInfo.self, inCollection: "bookmarks")
        }
        connection = database.newConnection()
        try await connection.readWrite { transaction in
            for (title, rating, info) in [
                ("Swift", 5, BookmarkInfo(downloadedAt: Date(timeIntervalSince1970: 2), author: "Ada")),
                ("Rust", 4, BookmarkInfo(downloadedAt: Date(timeIntervalSince1970: 1), author: "Bob")),
                ("Go", 1, BookmarkInfo(downloadedAt: Date(timeIntervalSince1970: 1))),
                ("C", 5, BookmarkInfo(author: "Ada")),
            ] {
                let bookmark = Bookmark(title: title, rating: rating)
                try transaction.setObject(
                    bookmark, metadata: info, forKey: title, inCollection: "bookmarks")
            }
        }
    }

    @Test func rowsAreFoundByTheirMetadata() async throws {
        try await database.register(byDownload)
        let lastWeek = Date(timeIntervalSince1970: 100)
        let old = try await connection.read { transaction in
            try transaction[byDownload].rows(
                metadata: BookmarkInfo.self,
                where: { $0.rating >= 4 && $0[metadata: \BookmarkInfo.downloadedAt] < lastWeek },
                sort: [.by(metadata: \BookmarkInfo.downloadedAt)])
        }
        #expect(old.map(\.key) == ["Rust", "Swift"])
        #expect(old.map(\.metadata?.author) == ["Bob", "Ada"])
        try await database.close()
    }

    @Test func rowsAreFoundByTextsOfTheirMetadata() async throws {
        try await database.register(byAuthor)
        let typed = "ada"
        let matches = try await connection.read { transaction in
            try transaction[byAuthor].matches(.words(typed), metadata: BookmarkInfo.self, limit: 20)
        }
        #expect(matches.map(\.match.key).sorted() == ["C", "Swift"])
        #expect(matches.map(\.metadata?.author) == ["Ada", "Ada"])
        let inColumn = try await connection.read { try $0[byAuthor].keys(.words(typed).in(column: "author")) }
        #expect(inColumn.count == 2)
        try await database.close()
    }

    @Test func actionsDependOnTheMetadata() async throws {
        try await database.register(reminders)
        let next = try await connection.read { try $0[reminders].actions() }
        #expect(
            next.map(\.id.key) == ["Rust", "Go", "Swift"] || next.map(\.id.key) == ["Go", "Rust", "Swift"])
        try await database.close()
    }
}

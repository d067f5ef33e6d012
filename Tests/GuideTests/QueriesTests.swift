import Foundation
import Testing
import Yap

extension Kind: YapDatabaseColumnConvertible {}

let byRating = YapDatabaseSecondaryIndex("byRating", of: Bookmark.self, in: "bookmarks", version: "1") {
    $0.column(\.rating)
    $0.column(\.title)
    $0.column(\.readAt)
    $0.column(\.kind)
}

/// `docs/guide/QUERIES.md`: its blocks stand here, and give what the page says.
@Suite struct QueriesTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        let readAt = Date(timeIntervalSince1970: 1)
        let list = try await BookmarkList(
            [
                Bookmark(title: "Swift", kind: .article, rating: 5),
                Bookmark(title: "blog", kind: .video, rating: 5, readAt: readAt),
                Bookmark(title: "Example", kind: .article, rating: 4),
                Bookmark(title: "Bad", kind: .recipe, rating: 1),
            ].map { ($0.title, $0) })
        (folder, database, connection) = (list.folder, list.database, list.connection)
        try await database.register(byRating)
    }

    @Test func rowsAreFoundSortedAndCounted() async throws {
        let good = try await connection.read { transaction in
            try transaction[byRating].rows(
                where: { $0.rating >= 4 && $0.readAt == nil },
                sort: [.by(\.rating, .descending), .by(\.title)],
                limit: 20)
        }
        #expect(good.map(\.key) == ["Swift", "Example"])
        let (count, newest, kinds) = try await connection.read { transaction in
            let index = try transaction[byRating]
            return (
                try index.count(where: { $0.rating == 5 }),
                try index.maximum(of: \.readAt),
                try index.counts(by: \.kind)
            )
        }
        #expect(count == 2 && newest == Date(timeIntervalSince1970: 1))
        #expect(kinds.map(\.value) == [.article, .recipe, .video] && kinds.map(\.count) == [2, 1, 1])
    }

    @Test func anIndexOfSomeObjectsAndSQL() async throws {
        let unread = YapDatabaseSecondaryIndex(
            "unread", of: Bookmark.self, in: "bookmarks", version: "1", including: { $0.readAt == nil }
        ) {
            $0.column(\.rating)
            $0.column(\.title, isIndexed: false)
            $0.index([\.rating, \.title])
        }
        try await database.register(unread)
        #expect(try await connection.read { try $0[unread].count() } == 3)
        let typed = "b"
        let byTitle = YapDatabaseSecondaryIndex("byTitle", of: Bookmark.self, in: "bookmarks", version: "1") {
            $0.column(\.title)
        }
        try await database.register(byTitle)
        let found = try await connection.read { transaction in
            try transaction[byTitle].rows(matching: "title LIKE ?1 || '%'", [.text(typed)])
        }
        #expect(found.map(\.key).sorted() == ["Bad", "blog"])
    }

    @Test func aQueryIsObserved() async throws {
        let (shown, continuation) = AsyncStream.makeStream(of: Int.self)
        let show: @Sendable (Int) -> Void = { continuation.yield($0) }
        let connection = connection
        let watching = Task {
            for try await count in connection.observe(unreadCount) {
                show(count)
            }
        }
        var counts = shown.makeAsyncIterator()
        #expect(await counts.next() == 3)
        try await connection.readWrite {
            try $0.removeObject(forKey: "Bad", inCollection: "bookmarks")
        }
        #expect(await counts.next() == 2)
        try await database.close()
        try await watching.value
    }
}

@Sendable func unreadCount(_ transaction: YapDatabaseReadTransaction) throws -> Int {
    try transaction[byRating].count(where: { $0.readAt == nil })
}

import Foundation
import Testing
import Yap
import YapCloudKit

/// `docs/guide/READING.md`: its blocks stand here, and give what the page says.
@Suite struct ReadingTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        let readAt = Date(timeIntervalSince1970: 1)
        let list = try await BookmarkList([
            ("https://swift.org", Bookmark(title: "Swift", rating: 3)),
            ("https://swift.org/blog", Bookmark(title: "Blog", rating: 5, readAt: readAt)),
            ("https://example.com", Bookmark(title: "Example", rating: 5)),
        ])
        (folder, database, connection) = (list.folder, list.database, list.connection)
    }

    @Test func oneObjectAndWhatIsThere() async throws {
        let bookmark = try await connection.read { transaction in
            try transaction.object(Bookmark.self, forKey: "https://swift.org", inCollection: "bookmarks")
        }
        #expect(bookmark?.title == "Swift")
        let (count, isKept, keys) = try await connection.read { transaction in
            (
                try transaction.numberOfKeys(inCollection: "bookmarks"),
                try transaction.hasObject(forKey: "https://swift.org", inCollection: "bookmarks"),
                try transaction.allKeys(inCollection: "bookmarks")
            )
        }
        #expect(count == 3 && isKept)
        #expect(keys == ["https://example.com", "https://swift.org", "https://swift.org/blog"])
    }

    @Test func listsAreFilteredAndSorted() async throws {
        let titles = try await connection.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map(\.object.title)
        }
        #expect(titles == ["Example", "Swift", "Blog"])
        let unread = try await connection.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks")
                .filter { $0.object.readAt == nil }
        }
        #expect(unread.map(\.key) == ["https://example.com", "https://swift.org"])
        let ofOneSite = try await connection.read { transaction in
            let rows = try transaction.objects(
                Bookmark.self, inCollection: "bookmarks", where: { $0.hasPrefix("https://swift.org") })
            return rows.map(\.object.title)
        }
        #expect(ofOneSite == ["Swift", "Blog"])
        let best = try await connection.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks")
                .sorted { ($1.object.rating, $0.object.title) < ($0.object.rating, $1.object.title) }
                .map(\.object.title)
        }
        #expect(best == ["Blog", "Example", "Swift"])
    }

    @Test func aListComesInPages() async throws {
        func page(after key: String) async throws -> [(key: String, object: Bookmark)] {
            try await connection.read { transaction in
                let rows = try transaction.objects(
                    Bookmark.self, inCollection: "bookmarks", where: { $0 > key })
                return Array(rows.prefix(20))
            }
        }
        try await fill()
        var pages: [[String]] = [try await page(after: "").map(\.key)]
        while let last = pages.last?.last { pages.append(try await page(after: last).map(\.key)) }
        #expect(pages.map(\.count) == [20, 20, 13, 0])
        #expect(pages.joined().elementsEqual(pages.joined().sorted()))
    }

    @Test func aSortedListComesInPages() async throws {
        try await fill()
        let order = try await connection.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks")
                .sorted { $0.object.title < $1.object.title }
                .map(\.key)
        }
        let secondPage = try await connection.read { transaction in
            try order.dropFirst(20).prefix(20).compactMap { key in
                try transaction.object(Bookmark.self, forKey: key, inCollection: "bookmarks")
            }
        }
        #expect(secondPage.count == 20 && order.count == 53)
        #expect(secondPage.first?.title == "Title 27")
    }

    private func fill() async throws {
        try await connection.readWrite { transaction in
            for number in 10..<60 {
                try transaction.setObject(
                    Bookmark(title: "Title \(number)"), forKey: "\(number)", inCollection: "bookmarks")
            }
        }
    }

    @Test func readsOfAPoolRunAtTheSameTime() async throws {
        let pool = YapDatabaseConnectionPool(database)
        async let count = pool.read { try $0.numberOfKeys(inCollection: "bookmarks") }
        async let swift = pool.read {
            try $0.object(Bookmark.self, forKey: "https://swift.org", inCollection: "bookmarks")
        }
        let (total, bookmark) = try await (count, swift)
        #expect(total == 3 && bookmark?.title == "Swift")
    }

    @Test func aProxyIsReadAndSetAtOnce() async throws {
        let folder = try Folder()
        let database = try YapDatabase(url: folder.url.appending(component: "drafts.yap")) {
            $0.register(Draft.self, inCollection: "drafts")
        }
        let connection = database.newConnection()
        let drafts = try YapDatabaseProxy(connection, of: Draft.self, in: "drafts")
        try drafts.setObject(Draft(text: "Dear"), forKey: "letter")
        let letter = try await drafts.object(forKey: "letter")
        try drafts.removeObject(forKey: "note")
        try await drafts.flush()
        #expect(letter == Draft(text: "Dear"))
        let keys = try await connection.read { try $0.allKeys(inCollection: "drafts") }
        #expect(keys == ["letter"])
    }

    @Test func aListIsObserved() async throws {
        @Sendable func unreadTitles(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
            try transaction.objects(Bookmark.self, inCollection: "bookmarks")
                .filter { $0.object.readAt == nil }
                .map(\.object.title)
        }
        let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
        let show: @Sendable ([String]) -> Void = { continuation.yield($0) }
        let connection = connection
        let watching = Task {
            for try await titles in connection.observe(unreadTitles) {
                show(titles)
            }
        }
        var lists = shown.makeAsyncIterator()
        #expect(await lists.next() == ["Example", "Swift"])
        try await connection.readWrite { transaction in
            try transaction.removeObject(forKey: "https://example.com", inCollection: "bookmarks")
        }
        #expect(await lists.next() == ["Swift"])
        try await database.close()
        try await watching.value
    }

    @Test func aCommitSaysWhatItChanged() async throws {
        let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
        let show: @Sendable ([String]) -> Void = { continuation.yield($0) }
        let commits = database.commits
        let watching = Task {
            for await commit in commits where commit.hasChange(inCollection: "bookmarks") {
                show(commit.changedKeys(inCollection: "bookmarks"))
            }
        }
        try await connection.readWrite { transaction in
            try transaction.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
            try transaction.removeObject(forKey: "https://swift.org", inCollection: "bookmarks")
        }
        var keys = shown.makeAsyncIterator()
        #expect(await keys.next() == ["1", "https://swift.org"])
        try await database.close()
        await watching.value
    }
}

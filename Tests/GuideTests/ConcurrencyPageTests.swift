import Foundation
import Testing
import Yap

/// `docs/guide/CONCURRENCY.md`: its code is here, and does what the page says.
@Suite struct ConcurrencyPageTests {
    private let list: BookmarkList
    private var database: YapDatabase { list.database }
    private var connection: YapDatabaseConnection { list.connection }

    init() async throws {
        list = try await BookmarkList([
            ("1", Bookmark(title: "Swift")), ("2", Bookmark(title: "Blog", rating: 5)),
        ])
    }

    @Test func readsOnTwoConnectionsRunAtTheSameTime() async throws {
        var shown: [(titles: [String], count: Int)] = []
        func show(_ titles: [String], _ count: Int) { shown.append((titles, count)) }
        let list = database.newConnection(), detail = database.newConnection()
        async let titles = list.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map(\.object.title)
        }
        async let count = detail.read { try $0.numberOfKeys(inCollection: "bookmarks") }
        show(try await titles, try await count)
        #expect(shown.first?.titles == ["Swift", "Blog"] && shown.first?.count == 2)
    }

    @Test func aHundredTasksCountWithoutALostAddition() async throws {
        let connection = connection
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await connection.readWrite { transaction in
                        var bookmark = try transaction.object(
                            Bookmark.self, forKey: "1", inCollection: "bookmarks")
                        bookmark?.rating += 1
                        try transaction.setObject(
                            bookmark ?? Bookmark(), forKey: "1", inCollection: "bookmarks")
                    }
                }
            }
            try await group.waitForAll()
        }
        let rating = try await connection.read {
            try $0.object(Bookmark.self, forKey: "1", inCollection: "bookmarks")?.rating
        }
        #expect(rating == 100)
    }

    @Test func aCancelledReadThrowsOrHasReturnedBefore() async throws {
        let connection = connection
        let reading = Task {
            try await connection.read { transaction in
                try transaction.objects(Bookmark.self, inCollection: "bookmarks")
                    .filter { $0.object.rating > 3 }
            }
        }
        reading.cancel()
        switch await reading.result {
        case .success(let found): #expect(found.map(\.key) == ["2"])
        case .failure(let error): #expect(error is CancellationError)
        }
    }
}

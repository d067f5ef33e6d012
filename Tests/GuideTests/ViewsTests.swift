import Foundation
import Testing
import Yap

extension Kind: Comparable {
    static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
}

let unreadByKind = YapDatabaseAutoView(
    "unreadByKind", of: Bookmark.self, in: "bookmarks", version: "1",
    group: { $0.readAt == nil ? $0.kind : nil },
    sort: [.by(\.rating, .descending), .by { $0.title.lowercased() }])

let best = YapDatabaseFilteredView("best", of: unreadByKind, version: "4") { _, bookmark in
    bookmark.rating >= 4
}

let opened = YapDatabaseAutoView(
    "opened", of: Bookmark.self, metadata: Date.self, in: "bookmarks", version: "1",
    group: { _, bookmark, date in date == nil ? nil : bookmark.kind },
    sort: [.by(metadata: \Date.self, .descending), .byKey()])

let byTitle = YapDatabaseAutoView(
    "byTitle", of: Bookmark.self, in: "bookmarks", version: "1", group: { $0.kind },
    sort: [.by { $0.title.localizedStandardCompare($1.title) == .orderedAscending }])

/// `docs/guide/VIEWS.md`: its blocks stand here, and give what the page says.
@Suite struct ViewsTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "list.yap")) {
            $0.register(Bookmark.self, metadata: Date.self, inCollection: "bookmarks")
        }
        connection = database.newConnection()
        try await connection.readWrite { transaction in
            for (title, rating, kind) in [
                ("Swift", 5, Kind.article), ("blog", 4, .article), ("Actors", 4, .article),
                ("Talk", 3, .video),
            ] {
                let bookmark = Bookmark(title: title, kind: kind, rating: rating)
                try transaction.setObject(bookmark, forKey: title, inCollection: "bookmarks")
            }
        }
        try await database.register(unreadByKind)
    }

    @Test func groupsAndRowsAreReadByTheirPlace() async throws {
        let (kinds, count, top) = try await connection.read { transaction in
            let view = try transaction[unreadByKind]
            return (try view.groups(), try view.count(in: .article), try view.rows(in: .article, 0..<20))
        }
        #expect(kinds == [.article, .video] && count == 3)
        #expect(top.map(\.key) == ["Swift", "Actors", "blog"])
        let fourStars = try await connection.read { transaction in
            try transaction[unreadByKind].indexes(in: .article) { bookmark in
                bookmark.rating > 4 ? .before : bookmark.rating == 4 ? .within : .after
            }
        }
        #expect(fourStars == 1..<3)
    }

    @Test func aListFollowsTheView() async throws {
        let (shown, continuation) = AsyncStream.makeStream(of: [[String]].self)
        let show: @Sendable (YapDatabaseViewSections<Kind, Bookmark>) -> Void = { list in
            continuation.yield(list.sections.map { $0.rows.map(\.title) })
        }
        let connection = connection
        let watching = Task {
            var list = YapDatabaseViewSections<Kind, Bookmark>()
            for try await change in connection.changes(of: unreadByKind) {
                list.apply(change)
                show(list)
            }
        }
        var lists = shown.makeAsyncIterator()
        #expect(await lists.next() == [["Swift", "Actors", "blog"], ["Talk"]])
        try await connection.readWrite {
            let read = Bookmark(title: "Swift", kind: .article, readAt: Date(timeIntervalSince1970: 1))
            try $0.setObject(read, forKey: "Swift", inCollection: "bookmarks")
        }
        #expect(await lists.next() == [["Actors", "blog"], ["Talk"]])
        try await database.close()
        try await watching.value
    }

    @Test func anotherFilterIsSetWhileTheAppRuns() async throws {
        try await database.register(best)
        #expect(try await connection.read { try $0[best].keys(in: .article) } == ["Swift", "Actors", "blog"])
        try await connection.readWrite { transaction in
            try transaction[best].setFilter(version: "5") { _, bookmark in bookmark.rating >= 5 }
        }
        #expect(try await connection.read { try $0[best].keys(in: .article) } == ["Swift"])
    }

    @Test func aViewFollowsTheMetadataUntilAnotherOrderIsSet() async throws {
        try await database.register(opened)
        try await connection.readWrite { transaction in
            for (key, seconds) in [("blog", 1.0), ("Swift", 2)] {
                try transaction.replaceMetadata(
                    Date(timeIntervalSince1970: seconds), forKey: key, inCollection: "bookmarks")
            }
        }
        #expect(try await connection.read { try $0[opened].keys(in: .article) } == ["Swift", "blog"])
        try await connection.readWrite { transaction in
            try transaction.setObject(
                Bookmark(title: "Zig", kind: .article), metadata: Date(timeIntervalSince1970: 3),
                forKey: "Zig",
                inCollection: "bookmarks")
        }
        #expect(try await connection.read { try $0[opened].first(in: .article)?.key } == "Zig")
        try await connection.readWrite { transaction in
            try transaction[opened].setSort(version: "by title", [.by(\.title)])
        }
        #expect(try await connection.read { try $0[opened].keys(in: .article) } == ["Swift", "Zig", "blog"])
    }

    @Test func titlesAreComparedAsAReaderDoes() async throws {
        try await database.register(byTitle)
        #expect(
            try await connection.read { try $0[byTitle].keys(in: .article) } == ["Actors", "blog", "Swift"])
    }

    @Test func mappingsChooseSectionsAndRows() async throws {
        let changes = connection.changes(
            of: unreadByKind, sections: .only([.article, .video]).rows(.first(50)))
        var iterator = changes.makeAsyncIterator()
        let sections = try await iterator.next()?.mappings.sections
        #expect(sections?.map(\.rowCount) == [3, 1])
        let more: [YapDatabaseViewMappings<Kind>] = [
            .sorted, .sorted(by: { $0 > $1 }), .where { $0 != .video },
            .sorted.rows(.last(50)), .sorted.rows(.window(length: 20, offset: 100, from: .beginning)),
            .sorted.rows(.flexible(length: 20, max: 100, growing: .bothSides)), .sorted.reversed(),
            .only([.recipe]).dynamic(), .sorted.consolidated(under: 10, as: .article),
            .sorted.dependents(at: [1]), .sorted.rows(.last(20), in: .video),
            .where({ $0 != .video }, sortedBy: { $0 > $1 }),
        ]
        var counts: [Int] = []
        for mappings in more {
            var iterator = connection.changes(of: unreadByKind, sections: mappings).makeAsyncIterator()
            counts.append(try await iterator.next()?.mappings.sections.count ?? -1)
        }
        #expect(counts == [2, 2, 1, 2, 0, 2, 2, 0, 1, 2, 2, 1])
    }

    @Test func aQueryOnAViewIsObservedByItsGroup() async throws {
        let articleCounts = connection.observe { transaction in
            try transaction[unreadByKind].count(in: .article)
        }
        var counts = articleCounts.makeAsyncIterator()
        #expect(try await counts.next() == 3)
        try await connection.readWrite {
            try $0.removeObject(forKey: "Talk", inCollection: "bookmarks")
            try $0.removeObject(forKey: "blog", inCollection: "bookmarks")
        }
        #expect(try await counts.next() == 2)
    }
}

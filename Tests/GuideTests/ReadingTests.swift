import Foundation
import Observation
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

    @Test func theFileIsMadeSmaller() async throws {
        try await database.vacuum()
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "bookmarks") } == 3)
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

    @Test func severalCollectionsAreRead() async throws {
        let kept = try await connection.read { transaction in
            try transaction.objects(Bookmark.self, inCollections: ["bookmarks", "archive"])
                .map { "\($0.collection): \($0.object.title)" }
        }
        #expect(kept == ["bookmarks: Example", "bookmarks: Swift", "bookmarks: Blog"])
        let (counts, texts) = try await connection.read { transaction in
            (
                try transaction.numberOfKeysInEachCollection(),
                try transaction.objectsInAllCollections((any Sendable).self)
                    .compactMap { ($0.object as? Bookmark)?.title }
            )
        }
        #expect(counts.map(\.collection) == ["bookmarks"] && counts.map(\.count) == [3])
        #expect(texts == ["Example", "Swift", "Blog"])
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

    @Test func aLongLivedReadStandsStillUntilItIsMoved() async throws {
        let list = try await connection.beginLongLivedRead()
        let titles = try await list.read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map(\.object.title)
        }
        #expect(titles.count == 3)
        try await fill()
        var shown: [Int] = []
        func showAgain(_ list: YapDatabaseLongLivedRead) async throws {
            shown.append(try await list.read { try $0.numberOfKeys(inCollection: "bookmarks") })
        }
        try await showAgain(list)
        let commits = try await list.moveToNewest()
        if commits.contains(where: { $0.hasChange(inCollection: "bookmarks") }) {
            try await showAgain(list)
        }
        list.end()
        #expect(shown == [3, 53])
    }

    @Test func aConnectionForAListReadsOnly() async throws {
        let list = database.newConnection(name: "list", permits: .anyRead)
        let error = await #expect(throws: YapDatabaseError.self) { try await list.readWrite { _ in } }
        #expect(error?.code == .transactionNotPermitted)
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

    @Test func aListIsObservedCalmly() async throws {
        @Sendable func unreadTitles(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map(\.object.title)
        }
        let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
        let show: @Sendable ([String]) -> Void = { continuation.yield($0) }
        let connection = connection
        let watching = Task {
            let calm = connection.observe(unreadTitles)
                .removingDuplicates()
                .atMostEvery(.milliseconds(250))
            for try await titles in calm {
                show(titles)
            }
        }
        var lists = shown.makeAsyncIterator()
        #expect(await lists.next() == ["Example", "Swift", "Blog"])
        try await database.flushTransactions()
        try await database.close()
        try await watching.value
    }

    @MainActor @Test func aUserInterfaceFollowsAListAndAView() async throws {
        @Sendable func unreadTitles(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map(\.object.title)
        }
        let byRating = YapDatabaseAutoView(
            "byRating", of: Bookmark.self, in: "bookmarks", version: "1", group: { $0.rating },
            sort: [.by(\.title)])
        try await database.register(byRating)
        let titles = YapDatabaseObservedValue([], following: connection.observe(unreadTitles))
        let list = YapDatabaseObservedValue(
            YapDatabaseViewSections<Int, Bookmark>(), following: connection.changes(of: byRating)
        ) { $0.apply($1) }
        let areThere = Observations { !titles.value.isEmpty && !list.value.sections.isEmpty }
        for await areThere in areThere where areThere { break }
        #expect(titles.value == ["Example", "Swift", "Blog"])
        #expect(list.value.sections.map { $0.rows.map(\.title) } == [["Swift"], ["Blog", "Example"]])
    }

    @Test func changesAreExported() async throws {
        try await database.registerChangeReader("export")
        let (connection, sent) = (connection, Sent())
        let send: @Sendable (YapDatabaseChangedRow) async throws -> Void = { await sent.add($0.key) }
        let sendEverything: @Sendable () async throws -> Void = { await sent.add("everything") }
        func export(since token: YapDatabaseChangeToken?) async throws -> YapDatabaseChangeToken {
            let (changes, next) = try await connection.read { transaction in
                (
                    try token.flatMap { try transaction.changes(since: $0) }?.map { $0 },
                    try transaction.changeToken(of: "export")
                )
            }
            if let changes {
                for change in changes { try await send(change) }
            } else {
                try await sendEverything()
            }
            try await connection.readWrite { try $0.discardChanges(through: next) }
            return next
        }
        let first = try await export(since: nil)
        try await connection.readWrite { transaction in
            try transaction.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
        }
        let second = try await export(since: first)
        _ = try await export(since: second)
        #expect(await sent.keys == ["everything", "1"])
    }

    private actor Sent {
        var keys: [String] = []
        func add(_ key: String) { keys.append(key) }
    }

    @Test func aDamagedFileIsRenamed() async throws {
        let folder = try Folder()
        let url = folder.url.appending(component: "bookmarks.yap")
        try await YapDatabase(url: url) { $0.register(Bookmark.self, inCollection: "bookmarks") }.close()
        var bytes = try Data(contentsOf: url)
        // What stands behind the header that says that it is a database.
        bytes.replaceSubrange(100..., with: Data(repeating: 0xA5, count: bytes.count - 100))
        try bytes.write(to: url)
        var reported: String?
        let report: (YapDatabaseError, String?) -> Void = { reported = $1 }
        var options = YapDatabaseOptions()
        options.whenCorrupt = .rename
        let database = try YapDatabase(url: url, options: options) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        if let corruption = database.corruption { report(corruption.error, corruption.renamedPath) }
        #expect(reported?.hasSuffix("/bookmarks.yap.1.corrupt") == true)
    }

    @Test func aDatabaseLivesInMemory() async throws {
        let database = try YapDatabase(inMemory: YapDatabaseOptions()) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        let connection = database.newConnection()
        try await connection.readWrite { transaction in
            try transaction.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
        }
        #expect(try await connection.read { try $0.numberOfKeysInAllCollections() } == 1)
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

    @Test func severalCommitsAreQueriedAsOne() async throws {
        var commits = database.commits.makeAsyncIterator()
        try await connection.readWrite { transaction in
            try transaction.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
        }
        try await connection.readWrite { transaction in
            try transaction.removeObject(forKey: "https://swift.org", inCollection: "bookmarks")
        }
        let hidden = [await commits.next(), await commits.next()].compactMap { $0 }
        let shownKeys = ["https://swift.org", "https://swift.org/blog"]
        var shown: [String] = []
        let show = { shown = $0 }
        if hidden.hasObjectChange(forAnyKeys: shownKeys, inCollection: "bookmarks") {
            show(hidden.changedKeys(inCollection: "bookmarks"))
        }
        #expect(shown == ["1", "https://swift.org"])
        try await database.close()
    }

    private enum ChangeReason: Sendable { case dropped, typed }

    @Test func aCommitHasItsReasonAndItsConnection() async throws {
        let (editor, bookmark) = (database.newConnection(name: "editor"), Bookmark(title: "Swift"))
        let (shown, continuation) = AsyncStream.makeStream(of: ([String], ChangeReason?).self)
        let show: @Sendable ([String], ChangeReason?) -> Void = { continuation.yield(($0, $1)) }
        let (played, sound) = AsyncStream.makeStream(of: Void.self)
        let playSound: @Sendable () -> Void = { sound.finish() }
        let commits = database.commits
        let watching = Task {
            for await commit in commits where !commit.wasMade(by: editor) {
                show(commit.changedKeys(inCollection: "bookmarks"), commit.info as? ChangeReason)
            }
        }
        try await editor.readWrite { transaction in
            transaction.commitInfo = ChangeReason.dropped
            try transaction.setObject(bookmark, forKey: "https://example.org", inCollection: "bookmarks")
            try transaction.addCompletion { playSound() }
        }
        for await _ in played {}
        try await connection.readWrite { transaction in
            transaction.commitInfo = ChangeReason.typed
            try transaction.removeObject(forKey: "https://example.org", inCollection: "bookmarks")
        }
        var changes = shown.makeAsyncIterator()
        let change = try #require(await changes.next())
        #expect(change.0 == ["https://example.org"] && change.1 == .typed)
        try await database.close()
        await watching.value
    }
}

import Foundation
import Testing
import Yap

let bookmarkText = YapDatabaseFullTextSearch("text", of: Bookmark.self, in: "bookmarks", version: "1") {
    $0.column(\.title, weight: 4)
    $0.column(\.tags)
    $0.column("site") { bookmark in bookmark.image?.host() }
}

let found = YapDatabaseSearchResultsView("found", of: unreadByKind, matching: bookmarkText)

/// `docs/guide/SEARCH.md`: its blocks stand here, and give what the page says.
@Suite struct SearchTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "list.yap")) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        connection = database.newConnection()
        try await connection.readWrite { transaction in
            for (title, tags) in [
                ("Swift on a Linux server", ["swift"]), ("Windows server, Swift", []),
                ("Café", ["swift", "linux"]),
            ] {
                var bookmark = Bookmark(title: title, tags: tags)
                bookmark.image = URL(
                    string: tags.count == 2 ? "https://example.com/a.png" : "https://swift.org/a.png")
                try transaction.setObject(bookmark, forKey: title, inCollection: "bookmarks")
            }
        }
        try await database.register(bookmarkText)
    }

    @Test func whatAPersonTypesIsFound() async throws {
        let typed = "linux serv"
        let hits = try await connection.read { transaction in
            try transaction[bookmarkText].matches(.prefix(typed), snippet: .of(\.title, words: 12), limit: 20)
        }
        #expect(hits.map(\.key) == ["Swift on a Linux server"])
        let excerpt = try #require(hits.first?.snippet)
        #expect(excerpt.matches == ["Linux", "server"])
        #expect(marked(excerpt) == "Swift on a \u{1B}[1mLinux\u{1B}[0m \u{1B}[1mserver\u{1B}[0m")
    }

    @Test func queriesAreCombinedAndExpressionsAreTheOtherForm() async throws {
        let query: YapDatabaseTextQuery<Bookmark> =
            .words("swift").in(\.title) && .anyWord("server linux").excluding(.phrase("windows server"))
        let found = try await connection.read { try $0[bookmarkText].keys(query) }
        #expect(found == ["Swift on a Linux server"])
        let near = try await connection.read { transaction in
            try transaction[bookmarkText].keys(.expression("NEAR(swift linux, 5) NOT site: example"))
        }
        #expect(near == ["Swift on a Linux server"])
    }

    @Test func aListShowsTheResults() async throws {
        var typed = "serv"
        try await database.register(unreadByKind)
        try await search(typed)
        #expect(try await keys() == ["Swift on a Linux server", "Windows server, Swift"])
        typed = "linux"
        let key = "Swift on a Linux server"
        try await searchInTurn(typed)
        #expect(try await keys() == ["Café", "Swift on a Linux server"])
        let title = try await connection.read { try $0[found].snippet(forKey: key, .whole(\.title)) }
        #expect(title?.matches == ["Linux"])
        try await connection.readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Linux"), forKey: "new", inCollection: "bookmarks")
            #expect(try transaction[found].place(ofKey: "new") != nil)
        }
    }

    private func search(_ typed: String) async throws {
        try await database.register(found)
        try await connection.readWrite { try $0[found].search(.prefix(typed)) }
    }

    private func searchInTurn(_ typed: String) async throws {
        let searches = YapDatabaseSearchQueue(found, connection)
        searches.enqueue(.prefix(typed))
        let isComplete = try await searches.search(.prefix(typed))
        #expect(isComplete)
    }

    private func keys() async throws -> [String] {
        try await connection.read { transaction in
            let view = try transaction[found]
            return try view.groups().flatMap { try view.keys(in: $0) }
        }
    }

    @Test func partsOfWordsAreFoundByTrigrams() async throws {
        let anywhere = YapDatabaseFullTextSearch(
            "anywhere", of: Bookmark.self, in: "bookmarks", version: "1", tokenizer: .trigram
        ) {
            $0.column(\.title)
        }
        try await database.register(anywhere)
        #expect(
            try await connection.read { try $0[anywhere].keys(.words("indow")) } == ["Windows server, Swift"])
        #expect(try await connection.read { try $0[anywhere].keys(.words("fé")) } == ["Café"])
    }
}

func marked(_ excerpt: YapDatabaseTextExcerpt) -> String {
    var text = excerpt.text
    for range in excerpt.ranges.reversed() {
        text.replaceSubrange(range, with: "\u{1B}[1m\(text[range])\u{1B}[0m")
    }
    return text
}

import SQLite

@testable import Yap

/// A database with pages, and a full-text search over them.
struct FullTextSearchStage {
    struct Page: Codable, Sendable, Equatable {
        var title: String
        var body: String?
        var tags: [String] = []
        var isHidden = false
    }

    typealias Search = YapDatabaseFullTextSearch<Page>
    typealias Query = YapDatabaseTextQuery<Page>

    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let search: Search

    init(_ search: Search = Self.search()) throws {
        folder = try TestFolder()
        database = try Self.open(folder)
        connection = database.newConnection()
        self.search = search
        try database.blocking.register(search)
    }

    static func open(_ folder: TestFolder) throws -> YapDatabase {
        try folder.open { $0.register(Page.self, metadata: Int.self, inCollection: "pages") }
    }

    static func search(
        version: String = "1", tokenizer: YapDatabaseTextTokenizer = .unicode, prefix: [Int] = []
    ) -> Search {
        Search("text", of: Page.self, in: "pages", version: version, tokenizer: tokenizer, prefix: prefix) {
            $0.column(\.title, weight: 4)
            $0.column(\.body)
            $0.column(\.tags)
        }
    }

    func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try connection.blocking.readWrite(body)
    }

    func read<Result>(_ body: (YapDatabaseFullTextSearchTransaction<Page>) throws -> Result) throws -> Result
    {
        try connection.blocking.read { try body(try $0[search]) }
    }

    /// Sets pages with these bodies, in the order of their keys.
    func set(_ bodies: [String: String]) throws {
        try write { transaction in
            for (key, body) in bodies.sorted(by: { $0.key < $1.key }) {
                try transaction.set(Page(title: "", body: body), key)
            }
        }
    }

    /// The keys of the pages that a query finds, sorted.
    func keys(_ query: Query) throws -> [String] { try read { try $0.keys(query).sorted() } }

    /// The excerpt of a body, with the matches in brackets.
    func excerpt(
        _ query: Query, _ snippet: YapDatabaseTextSnippet<Page> = .of(\.body, words: 4)
    ) throws -> [String] {
        try read { try $0.matches(query, snippet: snippet, order: .oldestFirst) }.map { match in
            guard let excerpt = match.snippet else { return "" }
            var text = excerpt.text
            for range in excerpt.ranges.reversed() {
                text.replaceSubrange(range, with: "[\(text[range])]")
            }
            return text
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ page: FullTextSearchStage.Page, _ key: String) throws {
        try setObject(page, forKey: key, inCollection: "pages")
    }
}

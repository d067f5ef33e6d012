import System
import Testing

@testable import Yap

/// A database with errands in lists, a full-text search over them, and a view of search results.
struct SearchResultsStage {
    struct Errand: Codable, Sendable, Equatable {
        var title: String
        var notes: String?
        var list: String? = "home"
        var priority = 0
    }

    typealias Query = YapDatabaseTextQuery<Errand>
    typealias Search = YapDatabaseFullTextSearch<Errand>
    typealias View = YapDatabaseView<Errand, String>
    typealias Auto = YapDatabaseAutoView<Errand, String>
    typealias Found = YapDatabaseSearchResultsView<Errand, String>

    static let collection = "errands"

    let folder: TestFolder
    let parent: View
    let search: Search
    let found: Found

    init(isPersistent: Bool = false, name: String = "found") throws {
        folder = try TestFolder()
        parent = Self.parent()
        search = Self.search()
        found = Found(name, of: parent, matching: search, isPersistent: isPersistent)
    }

    static func parent(version: String = "1") -> Auto {
        Auto(
            "all", of: Errand.self, in: collection, version: version, group: { $0.list },
            sort: [.by(\.priority), .by(\.title)])
    }

    static func search(version: String = "1", tokenizer: YapDatabaseTextTokenizer = .unicode) -> Search {
        Search("text", of: Errand.self, in: collection, version: version, tokenizer: tokenizer) {
            $0.column(\.title, weight: 4)
            $0.column(\.notes)
        }
    }

    /// A database without the views and the search.
    func openWithout(_ options: YapDatabaseOptions = YapDatabaseOptions()) throws -> YapDatabase {
        try folder.open(options) {
            $0.register(Errand.self, metadata: Int.self, inCollection: Self.collection)
            $0.register(Errand.self, inCollection: "others")
        }
    }

    func open() throws -> YapDatabase {
        let database = try openWithout()
        try register(database)
        return database
    }

    func register(_ database: YapDatabase) throws {
        try database.blocking.register(parent)
        try database.blocking.register(search)
        try database.blocking.register(found)
    }

    /// The keys of a view's groups.
    func keys(_ database: YapDatabase, _ view: View? = nil) throws -> [String: [String]] {
        try database.newConnection().blocking.read { try $0.keys(view ?? found) }
    }

    func look(for query: Query?, _ database: YapDatabase) throws {
        try database.write { try $0[found].search(query) }
    }
}

extension YapDatabase {
    func write<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws -> Result {
        try newConnection().blocking.readWrite(body)
    }

    func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
        try newConnection().blocking.read(body)
    }

    func add(_ handle: some YapDatabaseNamedExtension) throws { try blocking.register(handle) }

    /// Sets errands with these titles in the list "home".
    func set(_ titles: [String: String]) throws {
        try write { transaction in
            for (key, title) in titles.sorted(by: { $0.key < $1.key }) {
                try transaction.set(SearchResultsStage.Errand(title: title), key)
            }
        }
    }
}

extension YapDatabaseReadTransaction {
    func keys(_ view: SearchResultsStage.View) throws -> [String: [String]] {
        let part = try self[view]
        return try part.groups().reduce(into: [:]) { $0[$1] = try part.keys(in: $1) }
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ errand: SearchResultsStage.Errand, _ key: String) throws {
        try setObject(errand, forKey: key, inCollection: SearchResultsStage.collection)
    }

    func removeErrand(_ key: String) throws {
        try removeObject(forKey: key, inCollection: SearchResultsStage.collection)
    }
}

import FoundationEssentials
import SQLite
import Testing

@testable import Yap

/// Writes of objects whose rows have metadata that can't be decoded.
struct UnreadableMetadataTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading
    typealias View = YapDatabaseView<Book, String>

    private let stage: MetadataStage
    private let index = MetadataStage.index()
    private let search = YapDatabaseFullTextSearch("text", of: Book.self, in: "books", version: "1") {
        $0.column(\.title)
        $0.column(metadata: \Reading.lender)
    }
    private let manager = YapDatabaseActionManager(
        "returns", of: Book.self, metadata: Reading.self, in: "books", version: "1"
    ) { book, reading in
        [
            YapDatabaseAction(
                "\(book.title) to \(reading?.lender ?? "nobody")", at: Date(timeIntervalSince1970: 1))
        ]
    }
    private let lent = YapDatabaseAutoView(
        "lent", of: Book.self, metadata: Reading.self, in: "books", version: "1",
        group: { _, _, reading in reading?.lender ?? "nobody" }, sort: [.by(\.title)])

    init() throws {
        stage = try MetadataStage()
        try stage.setFour()
    }

    /// Registers an extension, and makes the metadata of "a" unreadable.
    private func damage(with handle: some YapDatabaseNamedExtension) throws -> YapDatabaseConnection {
        try stage.database.blocking.register(handle)
        try stage.database.writer { core in
            try core.store.sqlite.transaction(.immediate) {
                try core.store.sqlite.execute("UPDATE database2 SET metadata = x'ff' WHERE key = 'a'")
            }
            core.store.dropRowCaches()
        }
        return stage.database.newConnection()
    }

    /// Writes the object as the app does, and as it comes from a sync. Only the second one is stored.
    private func replace(_ connection: YapDatabaseConnection) throws {
        #expect(code { try connection.blocking.readWrite { try $0.replaceBook("Ants", "a") } } == .decoding)
        try connection.blocking.readWrite { transaction in
            try transaction.noteFetchedRows(ofExtension: "cloud")
            try transaction.replaceBook("Ants", "a")
            try transaction.replaceBook("Birds", "b")
        }
    }

    @Test func anIndexFollowsAFetchedObjectBesideUnreadableMetadata() throws {
        let connection = try damage(with: index)
        try replace(connection)
        try connection.blocking.read { transaction in
            let keys = try transaction[index].keys { $0.title == "Ants" }
            #expect(keys == ["a"])
            let rows = try transaction[index].rows { $0[metadata: \Reading.rating] == 5 }
            #expect(rows.map(\.object.title) == ["Birds"])
        }
    }

    @Test func aSearchFollowsAFetchedObjectBesideUnreadableMetadata() throws {
        let connection = try damage(with: search)
        try replace(connection)
        #expect(try connection.blocking.read { try $0[search].keys(.words("ants")) } == ["a"])
    }

    @Test func actionsFollowAFetchedObjectBesideUnreadableMetadata() throws {
        let connection = try damage(with: manager)
        try replace(connection)
        let names = try connection.blocking.read { try $0[manager].actions().map(\.id.identifier) }
        #expect(names.contains("Ants to nobody"))
    }

    @Test func aViewFollowsAFetchedObjectBesideUnreadableMetadata() throws {
        let connection = try damage(with: lent)
        try replace(connection)
        let keys = try connection.blocking.read { try $0[lent].keys(in: "nobody") }
        #expect(keys == ["a", "b", "d"])
    }
}

import Foundation
import Testing
import Yap

struct Book: Codable, Sendable {
    var title = ""
    var author: String?  // key in "authors"
    var cover = ""  // name of a file
}

struct Album: Codable, Sendable {
    var songs: [String] = []
}

extension Album: YapDatabaseRelationshipNode {
    func edges(from source: YapCollectionKey) -> [YapDatabaseEdge] {
        songs.map { song in
            YapDatabaseEdge(
                "song", from: source, to: .row(song, in: "songs"),
                rules: .deleteDestinationIfAllSourcesDeleted)
        }
    }
}

let library = YapDatabaseRelationship("library", version: "1") {
    $0.edge("author", \Book.author, in: "books", to: "authors", rules: .deleteSourceIfDestinationDeleted)
}

let shelf = YapDatabaseRelationship("shelf", version: "1") {
    $0.edge("author", \Book.author, in: "books", to: "authors", rules: .notifyIfDestinationDeleted)
} whenEdgeDeleted: { deletion in
    guard var book = deletion.object as? Book else { return nil }
    book.author = nil
    return book
}

/// `docs/guide/RELATIONSHIPS.md`: its blocks stand here, and give what the page says.
@Suite struct RelationshipsTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "library.yap")) {
            $0.register(Book.self, inCollection: "books")
            $0.register(String.self, inCollection: "authors")
            $0.register(Album.self, inCollection: "albums")
            $0.register(String.self, inCollection: "songs")
        }
        connection = database.newConnection()
    }

    private func setNana() async throws {
        try await connection.readWrite { transaction in
            try transaction.setObject(
                Book(title: "Nana", author: "zola"), forKey: "nana", inCollection: "books")
            try transaction.setObject("Zola", forKey: "zola", inCollection: "authors")
        }
    }

    @Test func booksAreDeletedWithTheirAuthor() async throws {
        try await database.register(library)
        try await setNana()
        try await connection.readWrite { transaction in
            let books = try transaction[library].sources(named: "author", of: .row("zola", in: "authors"))
            let count = try transaction[library].count(named: "author", to: .row("zola", in: "authors"))
            #expect(books.map(\.key) == ["nana"] && count == 1)
            try transaction.setObject(Book(title: "Germinal"), forKey: "germinal", inCollection: "books")
            let edge = YapDatabaseEdge(
                "sequel", from: YapCollectionKey(collection: "books", key: "nana"),
                to: .row("germinal", in: "books"))
            try transaction[library].add(edge)
            try transaction[library].flush()
            #expect(try transaction[library].count() == 2)
            for problem in try transaction[library].problems() { print(problem.row.key, problem.message) }
            #expect(try transaction[library].problems() == [])
        }
        try await connection.readWrite { try $0.removeObject(forKey: "zola", inCollection: "authors") }
        #expect(try await connection.read { try $0.allKeys(inCollection: "books") } == ["germinal"])
    }

    @Test func aSongIsDeletedWithItsLastAlbum() async throws {
        try await database.register(library)
        try await connection.readWrite { transaction in
            try transaction.setObject("Song", forKey: "song", inCollection: "songs")
            for key in ["a", "b"] {
                try transaction.setObject(Album(songs: ["song"]), forKey: key, inCollection: "albums")
            }
        }
        for (key, count) in [("a", 1), ("b", 0)] {
            try await connection.readWrite { try $0.removeObject(forKey: key, inCollection: "albums") }
            #expect(try await connection.read { try $0.allKeys(inCollection: "songs").count } == count)
        }
    }

    @Test func aBookLosesItsAuthor() async throws {
        try await database.register(shelf)
        try await setNana()
        try await connection.readWrite { try $0.removeObject(forKey: "zola", inCollection: "authors") }
        let book = try await connection.read {
            try $0.object(Book.self, forKey: "nana", inCollection: "books")
        }
        #expect(book?.title == "Nana" && book?.author == nil)
    }

    @Test func coversAreEdgesToFiles() async throws {
        let folder = folder.url.path
        let covers = YapDatabaseRelationship("covers", version: "1", fileDeletion: .inFolder(folder)) {
            $0.fileEdge("cover", \Book.cover, in: "books", rules: .deleteDestinationIfSourceDeleted)
        }
        try await database.register(covers)
        try await connection.readWrite {
            try $0.setObject(Book(cover: "nana.png"), forKey: "nana", inCollection: "books")
        }
        #expect(try await connection.read { try $0[covers].count(to: .file("nana.png")) } == 1)
    }
}

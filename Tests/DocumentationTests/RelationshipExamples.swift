import Testing
import Yap

private struct Book: Codable, Sendable { var author = "hugo" }

private struct Author: Codable, Sendable {}

private struct Player { let teamKey: String }

extension Player: YapDatabaseRelationshipNode {
    func edges(from source: YapCollectionKey) -> [YapDatabaseEdge] {
        let team = YapDatabaseEdgeDestination.row(teamKey, in: "teams")
        return [YapDatabaseEdge("team", from: source, to: team, rules: .notifyIfDestinationDeleted)]
    }
}

private func edges(
    _ owns: YapDatabaseRelationship, _ library: YapDatabaseRelationship, _ book: YapCollectionKey,
    _ transaction: YapDatabaseReadWriteTransaction
) throws -> [YapDatabaseEdge] {
    let edge = YapDatabaseEdge(
        "author", from: book, to: .row("hugo", in: "authors"), rules: .notifyIfSourceDeleted)
    for problem in try transaction[library].problems() { print(problem.row.key, problem.message) }
    let edges = try transaction[owns].edges(named: "author", to: .row("hugo", in: "authors"))
    try transaction[owns].add(
        YapDatabaseEdge(
            "cover", from: book, to: .row("front", in: "images"), rules: .deleteDestinationIfSourceDeleted))
    return edges + [edge]
}

@Suite struct RelationshipExamples {
    @Test func booksAreRemovedWithTheirAuthor() async throws {
        let example = try await ExampleDatabase {
            $0.register(Book.self, inCollection: "books")
            $0.register(Author.self, inCollection: "authors")
        }
        let (database, connection) = (example.database, example.connection)
        try await connection.readWrite { transaction in
            for author in ["hugo", "zola"] {
                try transaction.setObject(Author(), forKey: author, inCollection: "authors")
                try transaction.setObject(Book(author: author), forKey: author, inCollection: "books")
            }
        }
        let owns = YapDatabaseRelationship("owns", version: "1") {
            $0.edge(
                "author", \Book.author, in: "books", to: "authors", rules: .deleteSourceIfDestinationDeleted)
        }
        try await database.register(owns)
        // Removes the author's books too:
        try await connection.readWrite { try $0.removeObject(forKey: "hugo", inCollection: "authors") }
        let books = try await connection.read {
            try $0[owns].sources(named: "author", of: .row("zola", in: "authors"))
        }
        let count = try await connection.read { try $0.numberOfKeys(inCollection: "books") }
        #expect(books.count == 1 && count == 1)
    }
}

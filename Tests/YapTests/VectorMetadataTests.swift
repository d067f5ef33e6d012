import Testing

@testable import Yap

/// Metadata beside the rows that a query on a vector index finds.
struct VectorMetadataTests {
    private typealias Book = MetadataStage.Book
    private typealias Reading = MetadataStage.Reading

    private let stage: MetadataStage
    /// The nearest to 0 are those with the fewest pages.
    private let index = YapDatabaseVectorIndex(
        "pages", of: Book.self, in: MetadataStage.collection, version: "1", dimensions: 1,
        distance: .squaredEuclidean
    ) { [Float($0.pages)] }

    init() throws {
        stage = try MetadataStage()
        try stage.database.blocking.register(index)
        try stage.connection.blocking.readWrite { transaction in
            try transaction.set(Book(title: "Apples", pages: 1), Reading(rating: 3), "a")
            try transaction.set(Book(title: "Bees", pages: 2), nil, "b")
            try transaction.set(Book(title: "Cats", pages: 3), Reading(rating: 1), "c")
        }
    }

    @Test func theNearestRowsHaveTheirMetadata() async throws {
        let index = index
        let rows = try await stage.connection.rows(
            metadata: Reading.self, nearest: [0], in: index, limit: 2)
        #expect(rows.map(\.key) == ["a", "b"] && rows.map(\.object.title) == ["Apples", "Bees"])
        #expect(rows.map(\.metadata) == [Reading(rating: 3), nil] && rows.map(\.distance) == [1, 4])
        let far = try await stage.connection.read { transaction in
            try transaction[index].rows(
                metadata: Reading.self, nearest: [3], limit: 9, distanceMax: 2, among: ["a", "c"])
        }
        #expect(far.map(\.key) == ["c"] && far.map(\.metadata) == [Reading(rating: 1)])
        try await stage.connection.readWrite { try $0.setReading(Reading(rating: 9), "b") }
        for connection in [stage.connection, stage.database.newConnection()] {
            let rows = try await connection.rows(metadata: Reading.self, nearest: [0], in: index, limit: 2)
            #expect(rows.map(\.metadata?.rating) == [3, 9])
        }
        try await stage.database.close()
    }

    @Test func metadataAreReadWithoutTheObjects() throws {
        let connection = stage.database.newConnection()
        _ = stage.decoded.take()
        let found = try connection.blocking.read { transaction in
            try transaction[index].metadata(Reading.self, nearest: [0], limit: 2)
        }
        #expect(found.map(\.key) == ["a", "b"] && found.map(\.distance) == [1, 4])
        #expect(found.map(\.metadata) == [Reading(rating: 3), nil])
        #expect(stage.decoded.lines.isEmpty)
    }

    @Test func anObservedQueryDependsOnTheMetadataOfItsRows() throws {
        let queries: [(YapDatabaseReadTransaction) throws -> Void] = [
            { _ = try $0[index].rows(metadata: Reading.self, nearest: [0], limit: 2) },
            { _ = try $0[index].metadata(Reading.self, nearest: [0], limit: 2) },
        ]
        for query in queries {
            #expect(try stage.isObserved(query) { try $0.setReading(Reading(rating: 4), "b") })
            #expect(try !stage.isObserved(query) { try $0.setReading(Reading(rating: 4), "c") })
        }
    }

    @Test func metadataOfAnotherTypeIsAMistake() throws {
        let found = code {
            try stage.connection.blocking.read { transaction in
                _ = try transaction[index].rows(metadata: Stamp.self, nearest: [0], limit: 1)
            }
        }
        #expect(found == .typeMismatch)
    }
}

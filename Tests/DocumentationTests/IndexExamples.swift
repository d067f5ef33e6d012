import Foundation
import Testing
import Yap

enum Priority: Int, Codable, Sendable { case low, high }
extension Priority: YapDatabaseColumnConvertible {}

struct Metres: RawRepresentable, Comparable, Codable, YapDatabaseRTreeValue {
    var rawValue: Double

    static func < (left: Metres, right: Metres) -> Bool { left.rawValue < right.rawValue }
}

private struct Place: Codable, Sendable {
    var longitude = 8.4
    var latitude = 49.0
}

private struct Shop: Sendable {
    var opens = 8
    var closes = 20
}

private func vectors(
    _ byMeaning: YapDatabaseVectorIndex<Note>, _ vector: [Float], _ connection: YapDatabaseConnection
) async throws -> Int {
    let near = try await connection.rows(metadata: NoteInfo.self, nearest: vector, in: byMeaning, limit: 20)
    return near.count
}

private func vectors(
    _ byMeaning: YapDatabaseVectorIndex<Note>, _ vector: [Float], _ transaction: YapDatabaseReadTransaction
) throws -> Int {
    let near = try transaction[byMeaning].rows(metadata: NoteInfo.self, nearest: vector, limit: 20)
    return near.count
}

private func search(
    _ text: YapDatabaseFullTextSearch<Todo>, _ typed: String, _ transaction: YapDatabaseReadTransaction
) throws -> Int {
    let hits = try transaction[text].matches(.prefix(typed), snippet: .of(\.notes, words: 12), limit: 20)
    return hits.count
}

@Suite struct IndexExamples {
    @Test func aSecondaryIndexFindsRows() async throws {
        let example = try await ExampleDatabase()
        let (database, connection) = (example.database, example.connection)
        let byDue = YapDatabaseSecondaryIndex("byDue", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.due)
            $0.column(\.priority)
        }
        try await database.register(byDue)
        let late = try await connection.read {
            try $0[byDue].rows(where: { $0.due < now && $0.priority >= 3 }, sort: [.by(\.due)], limit: 50)
        }
        #expect(late.count == 2)
        try await connection.read { transaction in
            let late = try transaction[byDue].rows(where: { $0.due < now }, sort: [.by(\.due)], limit: 50)
            #expect(late.count == 2)
        }
        try await connection.read { transaction in
            let late = try transaction[byDue].rows(
                matching: "due < ?1 AND abs(priority) >= ?2", [now.columnValue, .integer(3)])
            #expect(late.count == 2)
        }
    }

    private func register(
        _ byDue: YapDatabaseSecondaryIndex<Todo>, _ database: YapDatabase, _ connection: YapDatabaseConnection
    ) async throws -> Int {
        try await database.register(byDue)
        let late = try await connection.read { try $0[byDue].rows(where: { $0.due < now }) }
        return late.count
    }

    @Test func anIndexHasColumnsOfTheMetadata() async throws {
        let example = try await ExampleDatabase()
        let index = YapDatabaseSecondaryIndex("index", of: Note.self, in: "notes", version: "1") {
            $0.column(\.kind)
            $0.column(\.rating)
            $0.column(metadata: \NoteInfo.downloadedAt)
            $0.index(over: [\Note.kind, \NoteInfo.downloadedAt])
        }
        let byRating = index
        try await example.database.register(index)
        try await example.connection.read { transaction in
            let old = try transaction[index].rows(where: {
                $0.kind == .article && $0[metadata: \NoteInfo.downloadedAt] < now
            })
            #expect(old.count == 1)
            let rows = try transaction[byRating].rows(metadata: NoteInfo.self, where: { $0.rating > 3 })
            for (key, note, info) in rows where info == nil { print(key, note.title) }
            #expect(rows.count == 1)
        }
    }

    @Test func anRTreeFindsPlaces() async throws {
        let example = try await ExampleDatabase { $0.register(Place.self, inCollection: "places") }
        let (database, connection) = (example.database, example.connection)
        try await connection.readWrite { try $0.setObject(Place(), forKey: "1", inCollection: "places") }
        let places = YapDatabaseRTreeIndex("places", of: Place.self, in: "places", version: "1") {
            $0.dimension(\.longitude)
            $0.dimension(\.latitude)
        }
        try await database.register(places)
        let found = try await connection.read {
            try $0[places].rows(
                where: { $0.longitude.isInside(8.4...8.7) && $0.latitude.isInside(49...50) }, limit: 50)
        }
        #expect(found.count == 1)
        try await connection.read { transaction in
            let found = try transaction[places].rows(
                matching: "longitude_max >= ?1 AND longitude_min <= ?2 AND abs(longitude - latitude) < 1",
                [.real(8.4), .real(8.7)])
            #expect(found.isEmpty)
            let home = YapDatabaseGlobePoint(latitude: 49, longitude: 8.4)
            let near = try transaction[places].rows(
                withinMetres: 500, of: home, latitude: \.latitude, longitude: \.longitude)
            #expect(near.count == 1)
        }
        try await connection.read { transaction in
            let near = try transaction[places].rows(
                nearest: [.at(\.longitude, 8.4, scale: 0.65), .at(\.latitude, 49)], limit: 10)
            #expect(near.count == 1)
        }
    }

    private func range(
        _ shops: YapDatabaseSecondaryIndex<Shop>, _ noon: Int, _ transaction: YapDatabaseReadTransaction
    ) throws -> Int {
        let open = try transaction[shops].rows(where: { ($0.opens...$0.closes).contains(noon) })
        return open.count
    }

    @Test func aVectorIndexFindsTheNearest() async throws {
        let example = try await ExampleDatabase()
        let (database, connection) = (example.database, example.connection)
        let vector = [Float](repeating: 1, count: 384)
        try await connection.readWrite { transaction in
            try transaction.setObject(
                Note(embedding: vector), metadata: NoteInfo(), forKey: "1", inCollection: "notes")
        }
        let byMeaning = YapDatabaseVectorIndex(
            "byMeaning", of: Note.self, in: "notes", version: "1", dimensions: 384, distance: .cosine
        ) { $0.embedding }
        try await database.register(byMeaning)
        let near = try await connection.rows(nearest: vector, in: byMeaning, limit: 20)
        #expect(near.count == 1)
        try await connection.read { transaction in
            let near = try transaction[byMeaning].rows(nearest: vector, limit: 20, distanceMax: 0.5)
            #expect(near.count == 1)
        }
        let count = try await connection.read { try vectors(byMeaning, vector, $0) }
        let asyncCount = try await vectors(byMeaning, vector, connection)
        #expect(count == 1 && asyncCount == 1)
    }

    @Test func aSearchFindsTexts() async throws {
        let example = try await ExampleDatabase()
        let (database, connection, typed) = (example.database, example.connection, "mil")
        let text = YapDatabaseFullTextSearch("text", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title, weight: 4)
            $0.column(\.notes)
        }
        try await database.register(text)
        let hits = try await connection.read {
            try $0[text].matches(.prefix(typed), snippet: .of(\.notes, words: 12), limit: 20)
        }
        #expect(hits.map(\.key) == ["1"])
        let count = try await connection.read { try search(text, typed, $0) }
        #expect(count == 1)
        let queries: [YapDatabaseTextQuery<Todo>] = [
            .prefix(typed),
            .words("milk") && .anyWord("bread rolls").in(\.title),
            .phrase("whole milk").excluding(.words("lactose")),
        ]
        let counts = try await connection.read { transaction in
            try queries.map { try transaction[text].matches($0).count }
        }
        #expect(counts == [1, 0, 0])
    }
}

import Foundation
import Testing
import Yap

struct Passage: Codable, Sendable {
    var text = ""
    var embedding: [Float]?
}

struct PassageInfo: Codable, Sendable {
    var source: String
}

let byMeaning = YapDatabaseVectorIndex(
    "byMeaning", of: Passage.self, in: "passages", version: "1", dimensions: 384, distance: .cosine
) { $0.embedding }

let passageText = YapDatabaseFullTextSearch("passageText", of: Passage.self, in: "passages", version: "1") {
    $0.column(\.text)
}

/// A stand-in for a model: one component for each word.
func embedding(_ text: String) -> [Float] {
    var vector = [Float](repeating: 0, count: 384)
    for word in text.split(separator: " ") {
        vector[word.utf8.reduce(0) { ($0 * 31 + Int($1)) % 384 }] += 1
    }
    return vector
}

/// `docs/guide/VECTORS.md`: its blocks stand here, and give what the page says.
@Suite struct VectorsTests {
    private let folder: Folder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection

    init() async throws {
        folder = try Folder()
        database = try YapDatabase(url: folder.url.appending(component: "test.yap")) {
            $0.register(Passage.self, metadata: PassageInfo.self, inCollection: "passages")
        }
        connection = database.newConnection()
        try await database.register(byMeaning)
        try await connection.readWrite { transaction in
            for text in ["buy milk and bread", "milk for the cat", "the cat sleeps", "a bus to town"] {
                let passage = Passage(text: text, embedding: embedding(text))
                let info = text.hasPrefix("milk") ? PassageInfo(source: "a letter") : nil
                try transaction.setObject(
                    passage, metadata: info, forKey: text, inCollection: "passages")
            }
        }
    }

    @Test func passagesAreFoundByTheirVectors() async throws {
        let query = embedding("milk and bread")
        let near = try await connection.rows(nearest: query, in: byMeaning, limit: 20)
        #expect(near.map(\.key).prefix(2) == ["buy milk and bread", "milk for the cat"])
        let similar = try await connection.read { transaction in
            try transaction[byMeaning].keys(nearest: query, limit: 20, distanceMax: 0.5)
        }
        #expect(similar.map(\.key) == ["buy milk and bread"])
    }

    @Test func passagesHaveTheirMetadata() async throws {
        let query = embedding("milk and bread")
        let sourced = try await connection.rows(
            metadata: PassageInfo.self, nearest: query, in: byMeaning, limit: 20)
        #expect(sourced.prefix(2).map(\.metadata?.source) == [nil, "a letter"])
    }

    @Test func aSearchForWordsNarrowsAQueryDown() async throws {
        let (typed, query) = ("cat", embedding("milk and bread"))
        try await database.register(passageText)
        let ranked = try await connection.read { transaction in
            let keys = try transaction[passageText].keys(.anyWord(typed), limit: 1_000)
            return try transaction[byMeaning].rows(nearest: query, limit: 20, among: keys)
        }
        #expect(ranked.map(\.key) == ["milk for the cat", "the cat sleeps"])
    }

    @Test func aQueryIsEndedAtItsDeadline() async throws {
        let query = embedding("milk and bread")
        struct TooSlow: Error {}
        let deadline = ContinuousClock.now + .seconds(60)
        let near = try await connection.read { transaction in
            try transaction[byMeaning].keys(nearest: query, limit: 20) {
                if ContinuousClock.now > deadline { throw TooSlow() }
            }
        }
        #expect(near.count == 4)
    }
}

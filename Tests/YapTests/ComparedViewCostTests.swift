import System
import TestSeed
import Testing

@testable import Yap

/// What views that compare rows read. Serialized, as they count what all of them decode.
@Suite(.serialized) struct ComparedViewCostTests {
    /// Counts how often it is decoded.
    struct Song: Codable, Sendable {
        static let decodedCount = Lock(0)
        var rank: Int

        init(rank: Int) { self.rank = rank }

        init(from decoder: any Decoder) throws {
            Self.decodedCount.withLock { $0 += 1 }
            rank = try decoder.singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rank)
        }
    }

    private typealias Auto = YapDatabaseAutoView<Song, String>

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func view(_ name: String, _ sort: [YapDatabaseViewSort<Song>]) -> Auto {
        Auto(name, of: Song.self, in: "songs", version: "1", group: { _ in "all" }, sort: sort)
    }

    private func open(_ views: [Auto]) throws -> YapDatabase {
        let database = try folder.open { $0.register(Song.self, metadata: Int.self, inCollection: "songs") }
        for view in views { try database.blocking.register(view) }
        return database
    }

    @Test func aRowIsPlacedByAboutAsManyObjectsAsTheLogarithmOfTheRows() throws {
        let calls = Lock(0)
        let view = Self.view(
            "songs",
            [
                .by { first, second in
                    calls.withLock { $0 += 1 }
                    return first.rank < second.rank
                }
            ])
        var database = try open([view])
        let (count, log2) = (4_096, 12)
        try database.write { transaction in
            for number in 0..<count { try transaction.set(Song(rank: number * 10), "\(number)") }
        }
        // Appending compares with the last row alone, with which no other is equal.
        #expect(calls.withLock { $0 } <= count)
        try database.blocking.close()
        let random = SeededRandomSource(seed: TestSeed.value)
        for number in 0..<20 {
            database = try open([view])
            calls.withLock { $0 = 0 }
            Song.decodedCount.withLock { $0 = 0 }
            let key = number % 2 == 0 ? "new\(number)" : "\(random.next(in: 0..<count))"
            try database.write { try $0.set(Song(rank: random.next(in: 0..<count * 10)), key) }
            #expect(Song.decodedCount.withLock { $0 } <= log2 + 6)
            #expect(calls.withLock { $0 } <= 2 * (log2 + 6))
            // A row that stays between its neighbours is compared with these.
            calls.withLock { $0 = 0 }
            try database.write { transaction in
                let song = try #require(try transaction.object(Song.self, forKey: key, inCollection: "songs"))
                try transaction.set(Song(rank: song.rank), key)
            }
            #expect(calls.withLock { $0 } <= 4)
            try database.blocking.close()
        }
    }

    @Test func aComparisonOfKeysOrMetadataReadsNoObjects() throws {
        let byKey = Self.view("byKey", [.byKey { $0 < $1 }])
        let byMetadata = Self.view(
            "byMetadata", [.by(metadata: Int.self) { ($0 ?? 0) < ($1 ?? 0) }])
        var database = try open([byKey, byMetadata])
        try database.write { transaction in
            for number in 0..<100 {
                let key = "\(1_000 + number)"
                try transaction.setObject(Song(rank: 0), metadata: number, forKey: key, inCollection: "songs")
            }
        }
        try database.blocking.close()
        database = try open([byKey, byMetadata])
        // What the first write of a run reads beside isn't counted.
        try database.write { try $0.set(Song(rank: 0), "first") }
        Song.decodedCount.withLock { $0 = 0 }
        try database.write { transaction in
            try transaction.setObject(Song(rank: 0), metadata: 50, forKey: "1050x", inCollection: "songs")
        }
        #expect(Song.decodedCount.withLock { $0 } == 0)
        #expect(try database.read { try $0[byKey].place(ofKey: "1050x")?.index } == 51)
        #expect(try database.read { try $0[byMetadata].place(ofKey: "1050x")?.index } == 52)
        try database.blocking.close()
    }
}

extension YapDatabaseReadWriteTransaction {
    fileprivate func set(_ song: ComparedViewCostTests.Song, _ key: String) throws {
        try setObject(song, forKey: key, inCollection: "songs")
    }
}

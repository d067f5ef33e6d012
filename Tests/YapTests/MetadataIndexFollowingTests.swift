import Testing

@testable import Yap

/// How indexes of metadata are filled, catch up and are observed.
struct MetadataIndexFollowingTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading

    private let stage: MetadataStage
    private let index = MetadataStage.index()

    init() throws {
        stage = try MetadataStage()
        try stage.setFour()
    }

    private static func ratings(_ database: YapDatabase, _ index: MetadataStage.Index) throws -> [String] {
        try database.newConnection().blocking.read { transaction in
            try ["a", "b", "c", "d"].map { key in
                let counts = try transaction[index].counts(byMetadata: \Reading.rating) {
                    $0.title == title(key)
                }
                return key + counts.map { "\($0.value ?? -1)" }.joined()
            }
        }
    }

    private static func title(_ key: String) -> String {
        ["a": "Apples", "b": "Bees", "c": "Cats", "d": "Dogs"][key] ?? ""
    }

    @Test func metadataThatWasWrittenWithoutTheIndexIsCaughtUp() throws {
        try stage.database.blocking.register(index)
        #expect(try Self.ratings(stage.database, index) == ["a3", "b5", "c1", "d-1"])
        try stage.database.blocking.close()
        // A process that doesn't know the index.
        let other = try MetadataStage.open(stage.folder)
        try other.newConnection().blocking.readWrite { transaction in
            try transaction.setReading(Reading(rating: 8), "a")
            try transaction.setReading(nil, "b")
            try transaction.setReading(Reading(rating: 2), "d")
        }
        try other.blocking.close()
        let again = try MetadataStage.open(stage.folder)
        try again.blocking.register(index)
        #expect(try Self.ratings(again, index) == ["a8", "b-1", "c1", "d2"])
    }

    @Test func columnsThatMoveFromTheObjectToTheMetadataFillTheIndexAnew() throws {
        let ofObject = MetadataStage.Index("moved", of: Book.self, in: "books", version: "1") {
            $0.column(\.pages, "number")
        }
        let ofMetadata = MetadataStage.Index("moved", of: Book.self, in: "books", version: "1") {
            $0.column(metadata: \Reading.rating, "number")
        }
        try stage.database.blocking.register(ofObject)
        try stage.database.blocking.close()
        let again = try MetadataStage.open(stage.folder)
        try again.blocking.register(ofMetadata)
        #expect(
            try again.newConnection().blocking.read { try $0[ofMetadata].sum(ofMetadata: \Reading.rating) }
                == 9)
    }

    @Test func queriesAreObservedByTheMetadataOfTheRowsThatTheyFind() throws {
        try stage.database.blocking.register(index)
        typealias Write = (YapDatabaseReadWriteTransaction) throws -> Void
        func isObserved(
            _ read: (YapDatabaseSecondaryIndexTransaction<Book>) throws -> Void, whenWriting write: Write
        ) throws -> Bool {
            try stage.isObserved({ try read($0[index]) }, whenWriting: write)
        }
        var page = 0.0
        let rating: Write = { try $0.setReading(Reading(rating: 4, lender: "Ann"), "a") }
        let same: Write = { transaction in
            page += 1
            try transaction.setReading(Reading(rating: 4, lender: "Ann", page: page), "a")
        }
        #expect(
            try isObserved({ _ = try $0.count { $0[metadata: \Reading.rating] == 4 } }, whenWriting: rating))
        #expect(
            try !isObserved({ _ = try $0.count { $0[metadata: \Reading.rating] == 4 } }, whenWriting: same))
        #expect(try !isObserved({ _ = try $0.rows { $0.title == "Apples" } }, whenWriting: same))
        #expect(
            try isObserved(
                { _ = try $0.rows(metadata: Reading.self, where: { $0.title == "Apples" }) },
                whenWriting: same))
        #expect(
            try isObserved(
                { _ = try $0.metadata(Reading.self, where: { $0.title == "Apples" }) }, whenWriting: same))
        #expect(
            try !isObserved(
                { _ = try $0.rows(metadata: Reading.self, where: { $0.title == "Bees" }) }, whenWriting: same)
        )
        let touched: Write = { try $0.touchMetadata(forKey: "a", inCollection: "books") }
        #expect(
            try isObserved(
                { _ = try $0.rows(metadata: Reading.self, where: { $0.title == "Apples" }) },
                whenWriting: touched))
        #expect(try !isObserved({ _ = try $0.rows { $0.title == "Apples" } }, whenWriting: touched))
    }

    @Test func metadataThatIsReadThroughAnIndexWithoutItIsObserved() throws {
        let plain = MetadataStage.Index("plain", of: Book.self, in: "books", version: "1") {
            $0.column(\.title)
        }
        try stage.database.blocking.register(plain)
        #expect(
            try stage.isObserved {
                _ = try $0[plain].rows(metadata: Reading.self, where: { $0.title == "Apples" })
            } whenWriting: {
                try $0.setReading(Reading(rating: 9), "a")
            })
        #expect(
            try !stage.isObserved {
                _ = try $0[plain].rows(where: { $0.title == "Apples" })
            } whenWriting: {
                try $0.setReading(Reading(rating: 8), "a")
            })
    }

    @Test func dimensionsOfTheMetadataAreFollowed() throws {
        let pages = YapDatabaseRTreeIndex("pages", of: Book.self, in: "books", version: "1") {
            $0.dimension(\.pages)
            $0.dimension(metadata: \Reading.page)
            $0.dimension(metadataFrom: \Reading.rating, to: \Reading.lastPage)
        }
        try stage.database.blocking.register(pages)
        func keys() throws -> [String] {
            try stage.connection.blocking.read { transaction in
                try transaction[pages].keys(where: {
                    $0.pages.isInside(0...1000) && $0[metadata: \Reading.page].isInside(1...20)
                        && ($0[metadata: \Reading.rating]...$0[metadata: \Reading.lastPage]).contains(50)
                }).sorted()
            }
        }
        #expect(try keys() == [])
        try stage.connection.blocking.readWrite { transaction in
            for (key, page) in [("a", 10.0), ("b", 30), ("d", 20)] {
                try transaction.setReading(Reading(page: page), key)
            }
        }
        #expect(try keys() == ["a", "d"])
        #expect(
            try stage.connection.blocking.read {
                try $0[pages].keys(nearest: [.at(metadata: \Reading.page, 28)], limit: 1).map(\.key)
            } == ["b"])
        try stage.connection.blocking.readWrite { transaction in
            try transaction.setReading(Reading(page: nil), "a")
            try transaction.setReading(Reading(page: 5), "b")
            try transaction.setReading(nil, "d")
        }
        #expect(try keys() == ["b"])
        #expect(try stage.connection.blocking.read { try $0[pages].count() } == 1)
    }
}

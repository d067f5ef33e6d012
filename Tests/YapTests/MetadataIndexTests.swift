import SQLite
import Testing

@testable import Yap

/// Indexes with columns of the rows' metadata.
struct MetadataIndexTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading

    private let stage: MetadataStage
    private let index = MetadataStage.index()
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try MetadataStage()
        try stage.setFour()
        try stage.database.blocking.register(index)
    }

    private func keys(
        sort: [YapDatabaseIndexSort<Book>] = [.by(\.title)],
        _ condition: @escaping (YapDatabaseIndexProperties<Book>) -> YapDatabaseIndexCondition<Book>
    ) throws -> [String] {
        try connection.blocking.read { try $0[index].keys(where: condition, sort: sort) }
    }

    @Test func aQueryComparesAndSortsByColumnsOfTheMetadata() throws {
        #expect(try keys { $0[metadata: \Reading.rating] >= 3 } == ["a", "b"])
        #expect(try keys { $0[metadata: \Reading.rating] >= 3 && $0.title == "Bees" } == ["b"])
        #expect(try keys { $0[metadata: \Reading.lender].hasPrefix("A") } == ["a"])
        #expect(try keys { $0[metadata: \Reading.lender].isOne(of: ["Carl", nil]) } == ["b", "c", "d"])
        // A row without metadata has no value.
        #expect(try keys { $0[metadata: \Reading.rating] == nil } == ["d"])
        #expect(try keys { $0[metadata: \Reading.rating] != 3 } == ["b", "c", "d"])
        #expect(
            try keys(sort: [.by(metadata: \Reading.rating, .descending)]) { $0.title < "z" } == [
                "b", "a", "c", "d",
            ])
    }

    @Test func valuesOfTheMetadataAreComputed() throws {
        try connection.blocking.read { transaction in
            let index = try transaction[index]
            #expect(try index.minimum(ofMetadata: \Reading.rating) == 1)
            #expect(try index.maximum(ofMetadata: \Reading.rating) { $0.title != "Bees" } == 3)
            #expect(try index.maximum(ofMetadata: \Reading.lender) == "Carl")
            #expect(try index.sum(ofMetadata: \Reading.rating) == 9)
            #expect(try index.average(ofMetadata: \Reading.rating) == 3)
            let ratings = try index.counts(byMetadata: \Reading.rating)
            #expect(ratings.map(\.value) == [nil, 1, 3, 5] && ratings.map(\.count) == [1, 1, 1, 1])
            let lenders = try index.counts(byMetadata: \Reading.lender)
            #expect(lenders.map(\.value) == [nil, "Ann", "Carl"] && lenders.map(\.count) == [2, 1, 1])
        }
    }

    @Test func eachWayToWriteARowIsFollowedInTheSameTransaction() throws {
        try connection.blocking.readWrite { transaction in
            func ratings() throws -> [String] {
                let found = try transaction[index].metadata(Reading.self, sort: [.by(\.title)])
                for (key, reading) in found {
                    let counted = try transaction[index].count {
                        $0[metadata: \Reading.rating] == reading?.rating
                            && $0[metadata: \Reading.lender] == reading?.lender
                    }
                    #expect(counted > 0, "\(key)")
                }
                return found.map { "\($0.key)\($0.metadata?.rating ?? -1)" }
            }
            try transaction.setReading(Reading(rating: 4, lender: "Eve"), "a")
            try transaction.setReading(nil, "b")
            try transaction.setReading(Reading(rating: 2), "d")
            #expect(try ratings() == ["a4", "b-1", "c1", "d2"])
            // The metadata stays with another object, and goes with one that is set without.
            try transaction.replaceBook("Zebras", "a")
            #expect(try ratings() == ["b-1", "c1", "d2", "a4"])
            #expect(try transaction[index].keys { $0[metadata: \Reading.lender] == "Eve" } == ["a"])
            try transaction.set(Book(title: "Ants"), nil, "a")
            #expect(try ratings() == ["a-1", "b-1", "c1", "d2"])
            try transaction.set(Book(title: "Eels"), Reading(rating: 9), "e")
            #expect(try ratings() == ["a-1", "b-1", "c1", "d2", "e9"])
            try? transaction.savepoint { () throws in
                try transaction.setReading(Reading(rating: 7), "e")
                throw Refused()
            }
            #expect(try ratings() == ["a-1", "b-1", "c1", "d2", "e9"])
        }
    }

    @Test func metadataDecidesWhichRowsAreInAnIndex() throws {
        let lent = YapDatabaseSecondaryIndex(
            "lent", of: Book.self, metadata: Reading.self, in: "books", version: "1",
            including: { book, reading in book.pages > 50 && reading?.lender != nil }
        ) { $0.column(\.title) }
        try stage.database.blocking.register(lent)
        func keys() throws -> [String] {
            try connection.blocking.read { try $0[lent].keys(sort: [.by(\.title)]) }
        }
        #expect(try keys() == ["a", "c"])
        try connection.blocking.readWrite { try $0.setReading(Reading(lender: "Bob"), "b") }
        try connection.blocking.readWrite { try $0.setReading(Reading(), "a") }
        #expect(try keys() == ["b", "c"])
        try connection.blocking.readWrite { transaction in
            try transaction.replaceObject(Book(title: "C", pages: 9), forKey: "c", inCollection: "books")
            try transaction.set(Book(title: "Dogs"), Reading(lender: "Dan"), "d")
        }
        #expect(try keys() == ["b", "d"])
    }

    @Test func aChangeOfTheMetadataReadsNoObjectAndWritesTheColumnsThatChange() throws {
        let database = try MetadataStage.open(stage.folder, stage.decoded)
        try database.blocking.register(index)
        _ = stage.decoded.take()
        func writes(_ reading: Reading) throws -> Int {
            try database.newConnection().blocking.readWrite { transaction in
                let before = transaction.sqlite.totalChangesCount
                try transaction.setReading(reading, "a")
                return transaction.sqlite.totalChangesCount - before
            }
        }
        #expect(try writes(Reading(rating: 3, lender: "Ann", page: 5)) == 1)
        #expect(try writes(Reading(rating: 4, lender: "Ann")) == 2)
        #expect(stage.decoded.lines == [])
    }

    @Test func anIndexWithoutMetadataIsNotConcernedByIt() throws {
        let asked = Log()
        let plain = YapDatabaseSecondaryIndex(
            "plain", of: Book.self, in: "books", version: "1",
            including: { book in
                asked.add(book.title)
                return true
            }
        ) { $0.column(\.title) }
        try stage.database.blocking.unregister(index.name)
        try stage.database.blocking.register(plain)
        _ = (asked.take(), stage.decoded.take())
        let commit = try stage.database.commit {
            try $0.setReading(Reading(rating: 4), "a")
            try $0.touchMetadata(forKey: "b", inCollection: "books")
        }
        #expect(asked.lines == [] && stage.decoded.lines == [])
        #expect(commit.changes(ofExtension: "plain") == nil)
    }

    @Test func rowsAreReadWithTheirMetadata() throws {
        try connection.blocking.read { transaction in
            let index = try transaction[index]
            let rows = try index.rows(
                metadata: Reading.self, where: { $0.title > "B" }, sort: [.by(\.title)], limit: 2)
            #expect(rows.map(\.key) == ["b", "c"])
            #expect(rows.map(\.object.title) == ["Bees", "Cats"])
            #expect(rows.map(\.metadata) == [Reading(rating: 5), Reading(rating: 1, lender: "Carl")])
            let last = try index.first(metadata: Reading.self, sort: [.by(\.title, .descending)])
            #expect(last?.key == "d" && last?.metadata == nil)
            let matching = try index.rows(
                metadata: Reading.self, matching: "rating > ?1", [.integer(3)])
            #expect(matching.map(\.metadata?.rating) == [5])
        }
        let found = try stage.database.newConnection().blocking.read { transaction in
            _ = stage.decoded.take()
            let found = try transaction[index].metadata(Reading.self, where: { $0.title == "Apples" })
            let matching = try transaction[index].metadata(Reading.self, matching: "title = 'Dogs'")
            return found.map(\.metadata?.rating) + matching.map(\.metadata?.rating)
        }
        #expect(found == [3, nil])
        #expect(stage.decoded.lines == [])
    }

    @Test func theMetadataOfRowsThatWereReadTogetherIsCachedAndFollowed() throws {
        func read(_ transaction: YapDatabaseReadTransaction) throws -> [Int?] {
            try transaction[index].rows(metadata: Reading.self, sort: [.by(\.title)], limit: 4)
                .map(\.metadata?.rating)
        }
        #expect(try connection.blocking.read(read) == [3, 5, 1, nil])
        let other = stage.database.newConnection()
        try other.blocking.readWrite { transaction in
            try transaction.setReading(Reading(rating: 8), "d")
            try transaction.setReading(nil, "a")
            #expect(try read(transaction) == [nil, 5, 1, 8])
        }
        #expect(try connection.blocking.read(read) == [nil, 5, 1, 8])
    }

    @Test func mistakesAreReportedByRegistering() throws {
        func code(
            _ collection: String = "books", _ describe: (inout YapDatabaseIndexColumns<Book>) -> Void
        ) -> YapDatabaseError.Code? {
            let index = MetadataStage.Index("mistake", of: Book.self, in: collection, version: "1", describe)
            return YapTests.code { try stage.database.blocking.register(index) }
        }
        #expect(code { $0.column(metadata: \Stamp.milliseconds) } == .typeMismatch)
        #expect(code("plain") { $0.column(metadata: \Reading.rating) } == .missingRegistration)
        #expect(
            code {
                $0.column(\.title, "rating")
                $0.column(metadata: \Reading.rating)
            } == .invalidExtension)
        #expect(
            code {
                $0.column(metadata: \Reading.rating)
                $0.column(metadata: \Reading.rating, "again")
            } == .invalidExtension)
        #expect(
            code {
                $0.column(\.title)
                $0.index(over: [\Book.title, \Reading.rating])
            } == .invalidExtension)
        #expect(YapTests.code { _ = try keys { $0[metadata: \Reading.page] == 1 } } == .invalidExtension)
        #expect(
            YapTests.code {
                try connection.blocking.read { _ = try $0[index].rows(metadata: Stamp.self) }
            } == .typeMismatch)
    }

    @Test func objectAndMetadataOfOneTypeAreDistinguished() throws {
        let folder = try TestFolder()
        let database = try folder.open {
            $0.register(Book.self, metadata: Book.self, inCollection: "books")
        }
        let index = MetadataStage.Index("both", of: Book.self, in: "books", version: "1") {
            $0.column(\.title)
            $0.column(metadata: \Book.title, "formerTitle")
        }
        try database.blocking.register(index)
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(
                Book(title: "new"), metadata: Book(title: "old"), forKey: "a", inCollection: "books")
            #expect(try transaction[index].count { $0.title == "new" } == 1)
            #expect(try transaction[index].count { $0.title == "old" } == 0)
            #expect(try transaction[index].count { $0[metadata: \Book.title] == "old" } == 1)
        }
    }
}

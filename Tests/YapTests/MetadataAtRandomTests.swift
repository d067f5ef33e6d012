import FoundationEssentials
import System
import TestSeed
import Testing

@testable import Yap

/// Writes of objects and metadata at random, after which each extension that reads both has what a walk over the rows
/// gives.
struct MetadataAtRandomTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading
    typealias Write = YapDatabaseReadWriteTransaction

    private static let keys = ["a", "b", "c", "d", "e", "f"]
    private static let collection = MetadataStage.collection

    private let index = MetadataStage.index()
    private let lent = MetadataStage.Index(
        "lent", of: Book.self, metadata: Reading.self, in: collection, version: "1",
        including: { book, reading in book.pages > 50 && reading?.lender != nil }
    ) {
        $0.column(\.title)
        $0.column(metadata: \Reading.rating)
    }
    private let pages = YapDatabaseRTreeIndex("pages", of: Book.self, in: collection, version: "1") {
        $0.dimension(\.pages)
        $0.dimension(metadata: \Reading.page)
    }
    private let text = YapDatabaseFullTextSearch("text", of: Book.self, in: collection, version: "1") {
        $0.column(\.title)
        $0.column(metadata: \Reading.lender)
    }
    private let actions = YapDatabaseActionManager(
        "actions", of: Book.self, metadata: Reading.self, in: collection, version: "1"
    ) { book, reading in
        guard let rating = reading?.rating else { return [] }
        return [YapDatabaseAction(book.title, at: Date(timeIntervalSince1970: Double(rating)))]
    }

    private func register(_ database: YapDatabase) throws {
        try database.blocking.register(index)
        try database.blocking.register(lent)
        try database.blocking.register(pages)
        try database.blocking.register(text)
        try database.blocking.register(actions)
    }

    private func book(_ random: SeededRandomSource) -> Book {
        Book(title: ["ann", "bob", "cat"][random.next(in: 0..<3)], pages: [40, 60][random.next(in: 0..<2)])
    }

    private func reading(_ random: SeededRandomSource) -> Reading? {
        if random.next(in: 0..<4) == 0 { return nil }
        return Reading(
            rating: random.next(in: 0..<3), lender: [nil, "ann", "dan"][random.next(in: 0..<3)],
            page: random.next(in: 0..<3) == 0 ? nil : Double(random.next(in: 0..<3)))
    }

    private func write(_ transaction: Write, _ random: SeededRandomSource) throws {
        let (key, collection) = (Self.keys[random.next(in: 0..<Self.keys.count)], Self.collection)
        switch random.next(in: 0..<12) {
        case 0...2: try transaction.set(book(random), reading(random), key)
        case 3...4: try transaction.replaceObject(book(random), forKey: key, inCollection: collection)
        case 5...8: try transaction.setReading(reading(random), key)
        case 9: try transaction.touchRow(forKey: key, inCollection: collection)
        case 10: try transaction.removeObject(forKey: key, inCollection: collection)
        default:
            let fails = random.next(in: 0..<2) == 0
            try? transaction.savepoint { () throws in
                for _ in 0..<3 { try write(transaction, random) }
                if fails { throw Refused() }
            }
        }
    }

    private func check(_ transaction: YapDatabaseReadTransaction, _ place: String) throws {
        var expected: [[String]] = [[], [], [], [], []]
        var found: [[String]] = [[], [], [], [], []]
        for row in try transaction.rows(Book.self, metadata: Reading.self, inCollection: Self.collection) {
            let (key, book, reading) = row
            expected[0].append("\(key) \(book.title) \(reading?.rating ?? -1) \(reading?.lender ?? "")")
            if book.pages > 50, reading?.lender != nil { expected[1].append(key) }
            if reading?.page ?? 0 >= 1 { expected[2].append(key) }
            if book.title == "ann" || reading?.lender == "ann" { expected[3].append(key) }
            if let rating = reading?.rating { expected[4].append("\(key) \(book.title) \(rating)") }
        }
        let all = try transaction[index].rows(metadata: Reading.self)
        for (key, book, reading) in all {
            let isFound = try transaction[index].keys {
                $0.title == book.title && $0[metadata: \Reading.rating] == reading?.rating
                    && $0[metadata: \Reading.lender] == reading?.lender
            }.contains(key)
            if isFound {
                found[0].append("\(key) \(book.title) \(reading?.rating ?? -1) \(reading?.lender ?? "")")
            }
        }
        found[1] = try transaction[lent].keys()
        found[2] = try transaction[pages].keys { $0[metadata: \Reading.page] >= 1 }
        found[3] = try transaction[text].keys(.words("ann"))
        found[4] = try transaction[actions].actions().map {
            "\($0.id.key) \($0.id.identifier) \(Int($0.date.timeIntervalSince1970))"
        }
        #expect(found.map { $0.sorted() } == expected, "\(place)")
    }

    @Test(arguments: TestSeed.values(count: 4))
    func extensionsMatchTheRowsAfterAnyWrites(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let stage = try MetadataStage()
        var database = stage.database
        try register(database)
        for step in 0..<60 {
            // A process that knows none of them.
            let isUnknown = step % 10 == 9
            if isUnknown {
                try database.blocking.close()
                database = try MetadataStage.open(stage.folder)
            }
            try database.newConnection().blocking.readWrite { transaction in
                for _ in 0..<3 {
                    try write(transaction, random)
                    if !isUnknown { try check(transaction, "seed \(seed), in step \(step)") }
                }
            }
            if isUnknown { try register(database) }
            try database.newConnection().blocking.read { try check($0, "seed \(seed), after step \(step)") }
        }
        try database.blocking.close()
    }
}

import System
import Testing

@testable import Yap

/// Queries at random, and commits that may change their results.
struct IndexObservationAtRandomTests {
    private typealias Properties = YapDatabaseIndexProperties<Sample>
    private typealias Condition = YapDatabaseIndexCondition<Sample>

    private let samples: SampleIndex
    private var database: YapDatabase { samples.database }
    private var connection: YapDatabaseConnection { samples.connection }
    private var index: YapDatabaseSecondaryIndex<Sample> { samples.index }

    init() throws { samples = try SampleIndex() }

    private func set(
        _ sample: Sample, _ key: Int, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try samples.set(sample, key, transaction)
    }

    private func sample(_ random: SeededRandomSource) -> Sample {
        Sample(
            choice: random.next(in: 0..<Mixed.all.count), text: text(random), rating: random.next(in: -1..<6),
            note: random.next(in: 0..<3))
    }

    private func text(_ random: SeededRandomSource) -> String? {
        [nil, "", "a", "ab", "b", "\u{e9}", "e\u{301}", "e\u{301}x"][random.next(in: 0..<8)]
    }

    private func condition(_ random: SeededRandomSource, depth: Int = 0) -> Condition {
        let properties = Properties()
        let mixed = Mixed(columnValue: Mixed.all[random.next(in: 0..<Mixed.all.count)])
        let rating = random.next(in: -1..<6)
        switch random.next(in: 0..<(depth < 3 ? 19 : 14)) {
        case 0: return properties.mixed == mixed
        case 1: return properties.mixed != mixed
        case 2: return properties.mixed < mixed
        case 3: return properties.mixed <= mixed
        case 4: return properties.mixed > mixed
        case 5: return properties.mixed >= mixed
        case 6:
            let others = (0..<random.next(in: 0..<4)).map { _ in
                Mixed(columnValue: Mixed.all[random.next(in: 0..<Mixed.all.count)])
            }
            return properties.mixed.isOne(of: others)
        case 7: return properties.text == text(random)
        case 8: return properties.text <= text(random)
        case 9: return properties.text.hasPrefix(text(random) ?? "\u{10FFFF}")
        case 10: return properties.text.contains(text(random) ?? "x")
        case 11: return properties.text.isOne(of: [text(random), text(random)])
        case 12: return properties.rating == rating
        case 13: return properties.rating > rating
        case 14: return !condition(random, depth: depth + 1)
        case 15, 16: return condition(random, depth: depth + 1) && condition(random, depth: depth + 1)
        default: return condition(random, depth: depth + 1) || condition(random, depth: depth + 1)
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aConditionIsDecidedAsSQLiteDecidesIt(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let all = (0..<200).map { _ in sample(random) }
        try connection.blocking.readWrite { transaction in
            try transaction.removeAllObjects(inCollection: "samples")
            for (key, sample) in all.enumerated() { try set(sample, key, transaction) }
        }
        for _ in 0..<400 {
            let condition = condition(random)
            let predicate = try SecondaryIndexPredicate(condition) { path in
                try #require(index.description.columns.firstIndex { $0.path == path })
            }
            let expected = try all.indices.filter { key in
                try index.description.values(of: all[key], nil).map { predicate.finds($0) } ?? false
            }
            let found = try connection.blocking.read { try $0[index].keys(where: { _ in condition }) }
            #expect(found.compactMap { Int($0) }.sorted() == expected, "seed \(seed): \(condition)")
        }
    }

    /// The result of a query at random, as text.
    private func query(_ random: SeededRandomSource) -> (SampleIndexTransaction) throws -> String {
        let (condition, limit) = (condition(random), random.next(in: 1..<4))
        let isWanted: (Properties) -> Condition = { _ in condition }
        switch random.next(in: 0..<9) {
        case 0: return { "\(try $0.rows(where: isWanted).sorted { $0.key < $1.key })" }
        case 1: return { "\(try $0.rows(where: isWanted, sort: [.by(\.rating)], limit: limit, offset: 1))" }
        case 2: return { "\(try $0.keys(where: isWanted, sort: [.by(\.text, .descending)], limit: limit))" }
        case 3: return { "\(try $0.count(where: isWanted))" }
        case 4: return { "\(String(describing: try $0.first(where: isWanted, sort: [.by(\.rating)])))" }
        case 5: return { "\(String(describing: try $0.minimum(of: \.rating, where: isWanted)))" }
        case 6: return { "\(String(describing: try $0.maximum(of: \.text, where: isWanted)))" }
        case 7: return { "\(try $0.sum(of: \.rating, where: isWanted))" }
        default: return { "\(try $0.counts(by: \.rating, where: isWanted))" }
        }
    }

    private func change(_ transaction: YapDatabaseReadWriteTransaction, _ random: SeededRandomSource) throws {
        let key = random.next(in: 0..<12)
        switch random.next(in: 0..<14) {
        case 0..<6: try set(sample(random), key, transaction)
        case 6..<8:
            try transaction.replaceObject(sample(random), forKey: "\(key)", inCollection: "samples")
        case 8..<10: try transaction.removeObject(forKey: "\(key)", inCollection: "samples")
        case 10: try transaction.touchRow(forKey: "\(key)", inCollection: "samples")
        case 11 where random.next(in: 0..<8) == 0:
            try transaction.removeAllObjects(inCollection: "samples")
        case 12 where random.next(in: 0..<8) == 0: try transaction.removeAllObjectsInAllCollections()
        default:
            try? transaction.savepoint { () throws in
                for _ in 0..<3 { try change(transaction, random) }
                if random.next(in: 0..<2) == 0 { throw Refused() }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aCommitThatChangesAResultIsObserved(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var passedOverCount = 0
        for step in 0..<60 {
            let observed = try (0..<12).map { _ in
                let query = query(random)
                let (before, reads) = try connection.readNow(tracksReads: true) { try query($0[index]) }
                return (query, before, try #require(reads))
            }
            let commit = try database.lastCommit {
                try database.newConnection().blocking.readWrite { transaction in
                    try set(sample(random), random.next(in: 0..<12), transaction)
                    for _ in 0..<random.next(in: 0..<3) { try change(transaction, random) }
                }
            }
            for (query, before, reads) in observed {
                let after = try connection.blocking.read { try query($0[index]) }
                let isObserved = reads.areChanged(by: commit)
                #expect(isObserved || after == before, "seed \(seed), step \(step)")
                if !isObserved { passedOverCount += 1 }
            }
        }
        #expect(passedOverCount > 60 * 12 / 10)
    }
}

import FoundationEssentials
import System
import TestSeed
import Testing

@testable import Yap

/// Queries and commits at random, compared with a plain search of all objects.
struct RTreeAtRandomTests {
    private let stage: RTreeStage

    init() throws {
        stage = try RTreeStage(changedKeysMax: 20)
        try stage.database.blocking.register(stage.points)
        try stage.database.blocking.register(stage.hours)
    }

    /// Few numbers, some of which differ by less than a 32-bit number can.
    private func number(_ random: SeededRandomSource) -> Double {
        let number = Double(random.next(in: -6..<7))
        switch random.next(in: 0..<12) {
        case 0: return number.nextUp
        case 1: return number.nextDown
        case 2: return number * 1e-46
        case 3: return number * 1e40
        case 4:
            return random.next(in: 0..<4) == 0 ? [.nan, .infinity, -.infinity][random.next(in: 0..<3)] : 0.1
        case 5: return 16_777_216 + number
        default: return number
        }
    }

    private func shop(_ random: SeededRandomSource) -> Shop {
        func some() -> Double? { random.next(in: 0..<8) == 0 ? nil : number(random) }
        return Shop(
            x: number(random), y: some(), opens: some().map(date), closes: some().map(date),
            name: "\(random.next(in: 0..<3))")
    }

    private func range(_ random: SeededRandomSource) -> ClosedRange<Double> {
        var (lower, upper) = (number(random), number(random))
        if lower.isNaN { lower = 0 }
        if upper.isNaN { upper = 0 }
        return min(lower, upper)...max(lower, upper)
    }

    /// A condition on points or on hours, and whether a shop that is in the index is one of its rows.
    private func condition(_ random: SeededRandomSource, ofHours: Bool, depth: Int = 0) -> (
        ShopCondition, (Shop) -> Bool
    ) {
        let properties = ShopProperties()
        let choice = random.next(in: 0..<(depth < 3 ? 12 : 8))
        switch choice {
        case 8:
            let (one, isOne) = condition(random, ofHours: ofHours, depth: depth + 1)
            return (!one, { !isOne($0) })
        case 9...:
            let (left, isLeft) = condition(random, ofHours: ofHours, depth: depth + 1)
            let (right, isRight) = condition(random, ofHours: ofHours, depth: depth + 1)
            return choice < 11
                ? (left && right, { isLeft($0) && isRight($0) })
                : (left || right, { isLeft($0) || isRight($0) })
        default:
            return ofHours
                ? hours(choice, range(random), properties.opens...properties.closes)
                : points(choice, range(random), properties)
        }
    }

    private func hours(
        _ choice: Int, _ range: ClosedRange<Double>, _ hours: YapDatabaseIndexRange<Shop, Date>
    ) -> (ShopCondition, (Shop) -> Bool) {
        let dates = date(range.lowerBound)...date(range.upperBound)
        func test(_ body: @escaping (ClosedRange<Date>) -> Bool) -> (Shop) -> Bool {
            { shop in
                guard let opens = shop.opens, let closes = shop.closes else { return false }
                return body(opens...closes)
            }
        }
        return switch choice {
        case 0, 1, 2: (hours.overlaps(dates), test { $0.overlaps(dates) })
        case 3, 4:
            (
                hours.isInside(dates),
                test { dates.lowerBound <= $0.lowerBound && $0.upperBound <= dates.upperBound }
            )
        case 5, 6:
            (
                hours.contains(dates),
                test { $0.lowerBound <= dates.lowerBound && dates.upperBound <= $0.upperBound }
            )
        default: (hours.contains(dates.lowerBound), test { $0.contains(dates.lowerBound) })
        }
    }

    private func points(_ choice: Int, _ range: ClosedRange<Double>, _ properties: ShopProperties) -> (
        ShopCondition, (Shop) -> Bool
    ) {
        let value = range.lowerBound
        return switch choice {
        case 0: (properties.x.isInside(range), { range.contains($0.x) })
        case 1: (properties.y.isInside(range), { $0.y.map(range.contains) ?? false })
        case 2: (properties.x < value, { $0.x < value })
        case 3: (properties.x >= value, { $0.x >= value })
        case 4: (properties.y == value, { $0.y == value })
        case 5: (properties.y > value, { $0.y.map { $0 > value } ?? false })
        case 6: (properties.x <= value, { $0.x <= value })
        default: (properties.x != value, { $0.x != value })
        }
    }

    private func isIndexed(_ shop: Shop, ofHours: Bool) -> Bool {
        guard ofHours else { return !shop.x.isNaN && shop.y.map { !$0.isNaN } ?? false }
        guard let opens = shop.opens, let closes = shop.closes else { return false }
        return opens < closes || opens == closes
    }

    private func index(ofHours: Bool) -> YapDatabaseRTreeIndex<Shop> { ofHours ? stage.hours : stage.points }

    @Test(arguments: TestSeed.values(count: 3))
    func aQueryFindsWhatASearchOfAllObjectsFinds(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var shops: [String: Shop] = [:]
        for step in 0..<12 {
            try change(&shops, random)
            for _ in 0..<25 {
                let ofHours = random.next(in: 0..<2) == 0
                let (condition, isWanted) = condition(random, ofHours: ofHours)
                let found = try stage.keys(index(ofHours: ofHours)) { _ in condition }
                let expected = shops.filter { isIndexed($0.value, ofHours: ofHours) && isWanted($0.value) }
                #expect(found == expected.keys.sorted(), "seed \(seed), step \(step): \(condition)")
            }
        }
    }

    /// Writes some rows, of which a savepoint undoes some.
    private func change(_ shops: inout [String: Shop], _ random: SeededRandomSource) throws {
        var after = shops
        try stage.connection.blocking.readWrite { transaction in
            for _ in 0..<random.next(in: 1..<80) {
                let key = "\(random.next(in: 0..<150))"
                let shop = random.next(in: 0..<5) == 0 ? nil : shop(random)
                let isUndone = random.next(in: 0..<6) == 0
                try? transaction.savepoint { () throws in
                    try transaction.set(shop, key)
                    if isUndone { throw Refused() }
                }
                if !isUndone { after[key] = shop }
            }
        }
        shops = after
    }

    @Test(arguments: TestSeed.values(count: 3))
    func theNearestRowsAreThoseThatASortHasFirst(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var shops: [String: Shop] = [:]
        for _ in 0..<8 { try change(&shops, random) }
        let all = shops.values.filter { isIndexed($0, ofHours: false) }
        for _ in 0..<80 {
            let (x, y) = (Double(random.next(in: -8..<9)), Double(random.next(in: -80..<81)) / 10)
            let scale = [1, 0.25, 1e-3, 40][random.next(in: 0..<4)]
            let limit = random.next(in: 1..<40)
            let (condition, isWanted) = condition(random, ofHours: false, depth: 2)
            let isAll = random.next(in: 0..<3) == 0
            let found = try stage.read(stage.points) {
                try $0.rows(
                    nearest: [.at(\.x, x, scale: scale), .at(\.y, y)], limit: limit,
                    where: isAll ? nil : { _ in condition })
            }
            let expected = all.filter { isAll || isWanted($0) }.map { shop in
                let (across, up) = (abs(shop.x - x) * scale, abs((shop.y ?? 0) - y))
                return (across * across + up * up).squareRoot()
            }.sorted().prefix(limit)
            #expect(found.map(\.distance) == Array(expected), "seed \(seed): \(x) \(y) \(scale) \(limit)")
            #expect(Set(found.map(\.key)).count == found.count)
            // NaN isn't equal to itself.
            for row in found { #expect(shops[row.key]?.description == row.object.description) }
        }
    }

    @Test(arguments: TestSeed.values(count: 2))
    func aCommitThatChangesAResultIsObserved(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var shops: [String: Shop] = [:]
        try change(&shops, random)
        var passedOverCount = 0
        for step in 0..<40 {
            let observed = try (0..<8).map { _ in
                let query = query(random)
                let (before, reads) = try stage.connection.readNow(tracksReads: true) { try query($0) }
                return (query, before, try #require(reads))
            }
            let commit = try stage.database.commit { transaction in
                for _ in 0..<random.next(in: 1..<4) {
                    try transaction.set(shop(random), "\(random.next(in: 0..<150))")
                }
            }
            for (query, before, reads) in observed {
                let isObserved = reads.areChanged(by: commit)
                let after = try stage.connection.blocking.read(query)
                #expect(isObserved || after == before, "seed \(seed), step \(step)")
                if !isObserved { passedOverCount += 1 }
            }
        }
        #expect(passedOverCount > 30)
    }

    /// The result of a query at random, as text.
    private func query(_ random: SeededRandomSource) -> (YapDatabaseReadTransaction) throws -> String {
        let ofHours = random.next(in: 0..<2) == 0
        let (condition, _) = condition(random, ofHours: ofHours)
        let (index, limit, x) = (index(ofHours: ofHours), random.next(in: 1..<6), number(random))
        switch random.next(in: 0..<4) {
        case 0: return { "\(try $0[index].rows(where: { _ in condition }).sorted { $0.key < $1.key })" }
        case 1: return { "\(try $0[index].count(where: { _ in condition }))" }
        default:
            let value = x.isFinite ? x : 0
            let position: YapDatabaseRTreePosition<Shop> =
                ofHours ? .at(\.opens, date(value)) : .at(\.x, value)
            return { "\(try $0[index].rows(nearest: [position], limit: limit, where: { _ in condition }))" }
        }
    }
}

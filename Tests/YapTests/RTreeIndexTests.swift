import FoundationEssentials
import SQLite
import Testing

@testable import Yap

/// What the queries of an R-tree index find.
struct RTreeIndexTests {
    private let stage: RTreeStage
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try RTreeStage()
        try stage.set(["a": .point(1, 1), "b": .point(2, 5), "c": .point(-3, 2.5), "d": .point(2, nil)])
        try database.blocking.register(stage.points)
    }

    private func keys(_ condition: @escaping (ShopProperties) -> ShopCondition) throws -> [String] {
        try stage.keys(stage.points, condition)
    }

    @Test func aRegionFindsThePointsInIt() throws {
        #expect(try keys { $0.x.isInside(0...2) } == ["a", "b"])
        #expect(try keys { $0.x.isInside(0...2) && $0.y.isInside(1...4) } == ["a"])
        #expect(try keys { $0.x.isInside(1...1) && $0.y.isInside(1...1) } == ["a"])
        #expect(try keys { $0.x < 1 || $0.y > 4.5 } == ["b", "c"])
        #expect(try keys { !$0.x.isInside(0...2) } == ["c"])
        #expect(try keys { $0.x <= 1 && $0.y >= 2 } == ["c"])
        #expect(try keys { $0.y == 5 } == ["b"])
        #expect(try keys { $0.x != 1 } == ["b", "c"])
        #expect(try keys { $0.x.isOne(of: [1, -3]) } == ["a", "c"])
        #expect(try keys { $0.y == nil } == [])
    }

    @Test func rowsAreSortedLimitedAndCounted() throws {
        try stage.read(stage.points) { index in
            let rows = try index.rows(where: { $0.x > -10 }, sort: [.by(\.y, .descending)], limit: 2)
            #expect(rows.map(\.key) == ["b", "c"] && rows.map(\.object.x) == [2, -3])
            #expect(try index.keys(sort: [.by(\.x)], limit: 5, offset: 1) == ["a", "b"])
            #expect(try index.count() == 3)
            #expect(try index.count { $0.x > 0 } == 2)
            #expect(try index.first(where: { $0.y > 2 }, sort: [.by(\.x)])?.key == "c")
            #expect(try index.first { $0.y > 200 } == nil)
            #expect(try index.rows(limit: -1).isEmpty)
        }
    }

    @Test func aRangeIsFoundByWhatItHasInCommonWithAnother() throws {
        let hours = stage.hours
        try database.blocking.register(hours)
        try stage.set(["e": .hours(10, 20), "f": .hours(15, 30), "g": .hours(40, 40), "h": .hours(9, 8)])
        let (range, wide) = (date(12)...date(16), date(5)...date(25))
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).overlaps(range) } == ["e", "f"])
        #expect(
            try stage.keys(hours) { ($0.opens...$0.closes).overlaps(date(20)...date(40)) } == ["e", "f", "g"])
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).contains(range) } == ["e"])
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).contains(date(15)) } == ["e", "f"])
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).isInside(wide) } == ["e"])
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).isInside(date(40)...date(40)) } == ["g"])
        #expect(try stage.keys(hours) { $0.closes > date(20) } == ["f", "g"])
        #expect(try stage.keys(hours) { $0.opens == date(15) } == ["f"])
        #expect(try stage.read(hours) { try $0.count() } == 3)
    }

    @Test func coordinatesAreComparedExactly() throws {
        let (one, next) = (16_777_217.0, 16_777_217.0.nextUp)
        try stage.set(["e": .point(one, one), "f": .point(next, next), "g": .point(0x1p-1063, 1e300)])
        #expect(try keys { $0.x.isInside(one...one) } == ["e"])
        #expect(try keys { $0.x.isInside(next...next) } == ["f"])
        #expect(try keys { $0.x > one } == ["f"])
        #expect(try keys { $0.x < next && $0.x > 3 } == ["e"])
        #expect(try keys { $0.x.isInside(0x1p-1063...0x1p-1063) && $0.y.isInside(1e300...1e300) } == ["g"])
        #expect(try keys { $0.y > 1e299 } == ["g"])
        #expect(try keys { $0.y > 1e301 } == [])
        try database.blocking.register(stage.numbers)
        let large = 1 << 53
        try stage.set([
            "h": Shop(number: large), "i": Shop(number: large + 1), "j": Shop(number: .max),
            "k": Shop(number: .max - 1), "l": Shop(number: .min),
        ])
        #expect(try stage.keys(stage.numbers) { $0.number.isInside(large + 1...large + 1) } == ["i"])
        #expect(try stage.keys(stage.numbers) { $0.number > large } == ["i", "j", "k"])
        #expect(try stage.keys(stage.numbers) { $0.number == .max } == ["j"])
        #expect(try stage.keys(stage.numbers) { $0.number < .max && $0.number > large + 1 } == ["k"])
        #expect(try stage.keys(stage.numbers) { $0.number == .min } == ["l"])
    }

    @Test func boundsOfATreeAreNeverInsideTheValue() {
        let numbers = [
            0, -0.0, 0x1p-1063, -0x1p-1063, 1e-46, 0.1, -0.1, 1e38, 3.5e38, -3.5e38, 1e300, .infinity,
            -.infinity,
            16_777_217, 1 / 3.0,
        ]
        for number in numbers.map(YapDatabaseColumnValue.real) + [.integer(.max), .integer(.min)] {
            guard let lower = number.rTreeLower, let upper = number.rTreeUpper, let bound = number.rTreeBound
            else {
                Issue.record("\(number)")
                continue
            }
            #expect(lower <= bound && bound <= upper, "\(number)")
            #expect(Double(Float(lower)) == lower && Double(Float(upper)) == upper, "\(number)")
            #expect(lower.isFinite && upper.isFinite, "\(number)")
        }
        #expect(YapDatabaseColumnValue.real(.nan).rTreeBound == nil)
        #expect(YapDatabaseColumnValue.text("1").rTreeBound == nil)
    }

    @Test func objectsWithoutANumberOrWithARangeThatEndsTooEarlyAreNotIndexed() throws {
        try stage.set(["e": .point(.nan, 1), "f": .point(1, .infinity), "a": .point(1, .nan)])
        #expect(try keys { $0.x > -100 } == ["b", "c", "f"])
        #expect(try keys { $0.y > 1e308 } == ["f"])
        try stage.set(["a": .point(1, 1), "f": .point(1, nil)])
        #expect(try keys { $0.x > -100 } == ["a", "b", "c"])
        // A comparison with NaN finds nothing.
        #expect(try keys { $0.x < .nan } == [])
        let hours = stage.hours
        try database.blocking.register(hours)
        try stage.set(["g": .hours(5, .infinity), "h": .hours(5, 4), "i": Shop(opens: date(5))])
        #expect(try stage.keys(hours) { ($0.opens...$0.closes).contains(date(1e12)) } == ["g"])
    }

    @Test func sqlFindsRowsByExactColumnsAndByBounds() throws {
        try connection.blocking.read { transaction in
            let index = try transaction[stage.points]
            #expect(
                try index.keys(
                    matching: "x_max >= ?1 AND x_min <= ?2 AND abs(x - y) < 1 -- or", [.real(0), .real(9)])
                    == ["a"])
            #expect(
                try index.rows(matching: "x > 0 OR y < 3", sort: [.by(\.y)], limit: 2).map(\.key) == [
                    "a", "c",
                ])
            #expect(try index.count(matching: "x = 2") == 1)
            #expect(code { _ = try index.count(matching: "none = 1") } == .sqlite)
            #expect(code { _ = try index.count(matching: "1 IN (SELECT 1 FROM yap2)") } == .sqlite)
            #expect(code { _ = try index.count { $0.number == 1 } } == .invalidExtension)
            #expect(code { _ = try index.keys(sort: [.by(\.name)]) } == .invalidExtension)
        }
    }

    @Test func conditionsUseTheTree() throws {
        let properties = ShopProperties()
        let finds = "SCAN i VIRTUAL TABLE INDEX 2:"
        // Which constraints the tree has follows the number.
        let inside = try stage.plan(
            stage.points, properties.x.isInside(0...1) && properties.y.isInside(0...1))
        #expect(inside.contains(finds + "D1B0D3B2") || inside.contains(finds + "B0D1B2D3"), "\(inside)")
        let (x, y) = (properties.x.isInside(0...1), properties.y.isInside(0...1))
        let or = try stage.plan(stage.points, x && y || properties.x.isInside(5...6) && y)
        #expect(or.contains("MULTI-INDEX OR"), "\(or)")
        let equal = try stage.plan(stage.points, properties.x == 1)
        #expect(equal.hasPrefix(finds) && !equal.hasPrefix(finds + ";"), "\(equal)")
    }

    @Test func theValuesOfAQueryAreCountedOnce() throws {
        let valuesMax = YapDatabaseIndexCondition<Shop>.valuesMax
        func count(_ valuesCount: Int) throws -> Int {
            var conditions = (0..<valuesCount).map { ShopProperties().x < Double($0) }
            // As a balanced tree: SQLite limits the depth of an expression.
            while conditions.count > 1 {
                conditions = stride(from: 0, to: conditions.count, by: 2).map { place in
                    place + 1 < conditions.count
                        ? conditions[place] || conditions[place + 1] : conditions[place]
                }
            }
            let condition = conditions[0]
            return try stage.read(stage.points) { try $0.count(where: { _ in condition }) }
        }
        #expect(try count(valuesMax) == 3)
        #expect(code { _ = try count(valuesMax + 1) } == .invalidExtension)
    }

    /// How many operations SQLite runs for a query. The statement is prepared before.
    private func operationsCount(_ body: (YapDatabaseRTreeIndexTransaction<Shop>) throws -> Int) throws -> Int
    {
        try connection.blocking.read { transaction in
            let index = try transaction[stage.points]
            _ = try body(index)
            let before = transaction.sqlite.operationsCount
            _ = try body(index)
            return transaction.sqlite.operationsCount - before
        }
    }

    @Test func ofTenThousandRowsAQueryVisitsThoseInItsRegion() throws {
        try connection.blocking.readWrite { transaction in
            for number in 0..<10_000 {
                try transaction.set(.point(Double(number % 100), Double(number / 100)), "n\(number)")
            }
        }
        let region = { (shop: ShopProperties) in shop.x.isInside(40...41) && shop.y.isInside(50...52) }
        #expect(try keys(region).count == 6)
        // An operation or more for each row that is visited.
        #expect(try operationsCount { try $0.count(where: region) } < 200)
        #expect(try operationsCount { try $0.count(matching: "x - y > 1000") } > 10_000)
        #expect(
            try stage.read(stage.points) { try $0.keys(nearest: [.at(\.x, 40.1), .at(\.y, 50.2)], limit: 2) }
                .map(\.key) == ["n5040", "n5140"])
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try stage.read(stage.points) { try $0.count() } == 0)
    }
}

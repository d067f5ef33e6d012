import Testing

@testable import Yap

/// Which rows are nearest to a point.
struct RTreeNearestTests {
    private let stage: RTreeStage
    private var points: YapDatabaseRTreeIndex<Shop> { stage.points }

    init() throws {
        stage = try RTreeStage()
        try stage.set(["a": .point(0, 0), "b": .point(3, 4), "c": .point(-6, 8), "d": .point(1, nil)])
        try stage.database.blocking.register(stage.points)
        try stage.database.blocking.register(stage.hours)
    }

    private func nearest(
        _ positions: [YapDatabaseRTreePosition<Shop>], _ limit: Int,
        where condition: ((ShopProperties) -> ShopCondition)? = nil
    ) throws -> [String] {
        try stage.read(points) { try $0.keys(nearest: positions, limit: limit, where: condition).map(\.key) }
    }

    @Test func theNearestRowsComeFirstWithTheirDistances() throws {
        let rows = try stage.read(points) { try $0.rows(nearest: [.at(\.x, 0), .at(\.y, 0)], limit: 10) }
        #expect(rows.map(\.key) == ["a", "b", "c"] && rows.map(\.distance) == [0, 5, 10])
        #expect(rows.map(\.object.x) == [0, 3, -6])
        #expect(try nearest([.at(\.x, -6), .at(\.y, 7)], 2) == ["c", "a"])
        #expect(try nearest([.at(\.x, -6), .at(\.y, 7)], 1) == ["c"])
        #expect(try nearest([.at(\.x, -6), .at(\.y, 7)], 0) == [])
        #expect(try nearest([.at(\.x, -6), .at(\.y, 7)], -1) == [])
        #expect(try nearest([.at(\.x, -6), .at(\.y, 7)], .max) == ["c", "a", "b"])
    }

    @Test func aRowInACornerOfABoxIsFartherThanOneBesideIt() throws {
        let boxes = RTreeStage.points("boxes")
        try stage.connection.blocking.readWrite { try $0.removeAllObjects(inCollection: "shops") }
        // The first row gives the boxes, of which that of 4 has the corner alone.
        try stage.set(["1": .point(64, 0), "2": .point(3.5, 3.5), "3": .point(4.5, 0), "4": .point(0, -5)])
        try stage.database.blocking.register(boxes)
        for index in [boxes, points] {
            let found = try stage.read(index) { try $0.keys(nearest: [.at(\.x, 0), .at(\.y, 0)], limit: 1) }
            #expect(found.map(\.key) == ["3"])
        }
    }

    @Test func aConditionAScaleAndFewerDimensionsCount() throws {
        #expect(try nearest([.at(\.x, 0), .at(\.y, 0)], 5) { $0.x != 0 } == ["b", "c"])
        #expect(try nearest([.at(\.y, 5)], 2) == ["b", "c"])
        // 5 and 6 as they are; 9 and 6 when x counts twice.
        let far: (Double) -> [YapDatabaseRTreePosition<Shop>] = { [.at(\.x, -2, scale: $0), .at(\.y, 8)] }
        #expect(try nearest(far(1), 1) { $0.y > 0 } == ["c"])
        #expect(try nearest(far(4), 1) { $0.y > 0 } == ["c"])
        #expect(try nearest([.at(\.x, -1, scale: 0.1), .at(\.y, 6.5)], 2) { $0.y > 0 } == ["c", "b"])
        #expect(try nearest([.at(\.x, -1, scale: 9), .at(\.y, 6.5)], 2) { $0.y > 0 } == ["b", "c"])
    }

    @Test func aValueInARangeIsAtTheDistanceZero() throws {
        try stage.set(["e": .hours(10, 20), "f": .hours(15, 30), "g": .hours(40, 41)])
        let found = try stage.read(stage.hours) { try $0.keys(nearest: [.at(\.opens, date(35))], limit: 5) }
        #expect(found.map(\.key) == ["f", "g", "e"] && found.map(\.distance) == [5, 5, 15])
        let within = try stage.read(stage.hours) { try $0.keys(nearest: [.at(\.closes, date(16))], limit: 2) }
        #expect(within.map(\.key) == ["e", "f"] && within.map(\.distance) == [0, 0])
    }

    @Test func whatIsNoPointIsAnError() throws {
        let wrong: [[YapDatabaseRTreePosition<Shop>]] = [
            [], [.at(\.x, .nan)], [.at(\.x, .infinity)], [.at(\.x, 1, scale: 0)], [.at(\.x, 1, scale: -1)],
            [.at(\.x, 1, scale: .nan)], [.at(\.x, 1), .at(\.x, 2)], [.at(\.number, 1)],
        ]
        for positions in wrong {
            #expect(code { _ = try nearest(positions, 1) } == .invalidExtension, "\(positions)")
        }
    }

    @Test func distancesWithoutBoundAreSorted() throws {
        try stage.set(["e": .point(1e200, 0), "f": .point(.infinity, 0), "g": .point(1e-200, 1e-200)])
        #expect(try nearest([.at(\.x, 0), .at(\.y, 0)], 6).prefix(4) == ["a", "g", "b", "c"])
        #expect(try nearest([.at(\.x, 0), .at(\.y, 0)], 3) == ["a", "g", "b"])
        #expect(try nearest([.at(\.x, 1e300), .at(\.y, 0)], 1).count == 1)
    }

    @Test func aChangeFartherThanTheLastRowIsNotObserved() throws {
        func isObserved(_ limit: Int, _ shop: Shop?, _ key: String) throws -> Bool {
            let before = try stage.connection.blocking.read {
                try $0.object(Shop.self, forKey: key, inCollection: "shops")
            }
            defer { try? stage.connection.blocking.readWrite { try $0.set(before, key) } }
            return try stage.connection.isObserved {
                _ = try $0[points].keys(nearest: [.at(\.x, 0), .at(\.y, 0)], limit: limit) { $0.x < 50 }
            } whenWriting: {
                try $0.set(shop, key)
            }
        }
        #expect(try isObserved(2, .point(1, 1), "e"))
        #expect(try isObserved(2, .point(0, -5), "e"))
        #expect(try !isObserved(2, .point(4, 4), "e"))
        #expect(try !isObserved(2, .point(-6, 9), "c"))
        #expect(try isObserved(2, .point(1, 1), "c"))
        #expect(try isObserved(2, nil, "b"))
        // Any row counts while there are fewer than the limit.
        #expect(try isObserved(4, .point(40, 40), "e"))
        #expect(try !isObserved(4, .point(60, 40), "e"))
        #expect(try !isObserved(4, .point(60, nil), "e"))
    }
}

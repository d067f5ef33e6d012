import System
import TestSeed
import Testing

@testable import Yap

/// Rows within a distance of a point on the globe.
@Suite struct RTreeGlobeTests {
    struct Town: Codable, Sendable {
        let latitude: Double
        let longitude: Double

        var point: YapDatabaseGlobePoint { YapDatabaseGlobePoint(latitude: latitude, longitude: longitude) }
    }

    private let folder: TestFolder
    private let database: YapDatabase
    private let towns = YapDatabaseRTreeIndex("towns", of: Town.self, in: "towns", version: "1") {
        $0.dimension(\.latitude)
        $0.dimension(\.longitude)
    }

    init() throws {
        folder = try TestFolder()
        database = try folder.open { $0.register(Town.self, inCollection: "towns") }
        try database.blocking.register(towns)
    }

    private func set(_ places: [(String, Double, Double)]) throws {
        try database.write { transaction in
            for (key, latitude, longitude) in places {
                let town = Town(latitude: latitude, longitude: longitude)
                try transaction.setObject(town, forKey: key, inCollection: "towns")
            }
        }
    }

    private func keys(_ metres: Double, _ latitude: Double, _ longitude: Double, limit: Int? = nil) throws
        -> [String]
    {
        let center = YapDatabaseGlobePoint(latitude: latitude, longitude: longitude)
        return try database.read { transaction in
            try transaction[towns].rows(
                withinMetres: metres, of: center, latitude: \.latitude, longitude: \.longitude, limit: limit
            ).map(\.key)
        }
    }

    @Test func distancesAreThoseOfTheSphere() {
        let degree = YapDatabaseGlobePoint.radiusMetres * .pi / 180
        let distances = [
            ((0.0, 0.0), (0.0, 1.0), degree), ((0, 179.5), (0, -179.5), degree),
            ((89, 0), (89, 180), 2 * degree),
            ((0, 0), (0, 180), 180 * degree), ((90, 17), (-90, -60), 180 * degree), ((12, 34), (12, 34), 0),
            ((60, 10), (60, 10.001), 0.001 * degree / 2),
        ]
        for (from, to, metres) in distances {
            let (from, to) = (
                YapDatabaseGlobePoint(latitude: from.0, longitude: from.1),
                YapDatabaseGlobePoint(latitude: to.0, longitude: to.1)
            )
            #expect(abs(from.metres(to: to) - metres) < 0.01, "\(from) \(to)")
        }
    }

    @Test func aCircleAcrossThe180thMeridianOrAPoleIsWhole() throws {
        try set([
            ("west", -17, 179.9), ("east", -17, -179.9), ("on", -17, 180), ("far", -17, 178), ("pole", 90, 0),
            ("north", 89.9, 135), ("other side", 89.9, -45), ("south", -89.95, 20),
        ])
        #expect(try keys(25_000, -17, 179.9) == ["west", "on", "east"])
        #expect(try keys(25_000, -17, -179.9) == ["east", "on", "west"])
        #expect(try keys(25_000, -17, -179.9, limit: 2) == ["east", "on"])
        #expect(try keys(15_000, -17, -180) == ["on", "east", "west"])
        #expect(try keys(12_000, 90, 77) == ["pole", "north", "other side"])
        #expect(try keys(23_000, 89.9, 135) == ["north", "pole", "other side"])
        #expect(try keys(6_000, -90, 0) == ["south"])
        #expect(try keys(21_000_000, 0, 0).count == 8)
        #expect(try keys(0, -17, 178) == ["far"])
        for (metres, latitude, longitude) in [
            (-1, 0, 0), (.nan, 0, 0), (.infinity, 0, 0), (1, 91, 0), (1, 0, 181), (1, .nan, 0),
        ] as [(Double, Double, Double)] {
            #expect(code { _ = try keys(metres, latitude, longitude) } == .invalidExtension)
        }
    }

    @Test(arguments: TestSeed.values(count: 4))
    func rowsWithinMetresAreThoseOfASearchOfAllObjects(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let edges = [-90.0, -89.99, 89.99, 90, 0], meridians = [-180.0, -179.99, 179.99, 180, 0]
        func point() -> YapDatabaseGlobePoint {
            let isAtEdge = random.next() % 4 == 0
            return YapDatabaseGlobePoint(
                latitude: isAtEdge ? edges[random.next(in: 0..<5)] : random.nextUnitInterval() * 180 - 90,
                longitude: random.next() % 4 == 0
                    ? meridians[random.next(in: 0..<5)] : random.nextUnitInterval() * 360 - 180)
        }
        let points = (0..<300).map { _ in point() }
        try set(points.enumerated().map { ("\($0.offset)", $0.element.latitude, $0.element.longitude) })
        for _ in 0..<80 {
            let center = point()
            // The distance of a point, or any: from metres to the whole globe.
            let metres =
                random.next() % 3 == 0
                ? center.metres(to: points[random.next(in: 0..<300)])
                : 2.1e7 / Double(1 << random.next(in: 0..<16))
            let expected = points.indices.filter { center.metres(to: points[$0]) <= metres }
            let found = try keys(metres, center.latitude, center.longitude)
            #expect(found.compactMap { Int($0) }.sorted() == expected, "\(center) \(metres)")
            let distances = found.compactMap { Int($0) }.map { center.metres(to: points[$0]) }
            #expect(distances == distances.sorted())
        }
    }
}

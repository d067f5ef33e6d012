import Foundation
import Testing
import Yap

struct Shop: Codable, Sendable {
    var longitude = 8.5
    var latitude = 49.5
    var opens: Date?
    var closes: Date?
}

let shops = YapDatabaseRTreeIndex("shops", of: Shop.self, in: "shops", version: "1") {
    $0.dimension(\.longitude)
    $0.dimension(\.latitude)
    $0.dimension(from: \.opens, to: \.closes)
}

/// `docs/guide/REGIONS.md`: its blocks stand here, and give what the page says.
@Suite struct RegionsTests {
    @Test func shopsAreFoundByRegionAndByDistance() async throws {
        let folder = try Folder()
        let path = folder.url.appending(component: "test.yap").path
        let database = try YapDatabase(path: path) { $0.register(Shop.self, inCollection: "shops") }
        let connection = database.newConnection()
        let now = Date(timeIntervalSince1970: 1_000)
        try await database.register(shops)
        try await connection.readWrite { transaction in
            for (place, key) in ["a", "b", "c"].enumerated() {
                let shop = Shop(
                    longitude: 8.5 + Double(place), opens: now - 60, closes: now + 60 * Double(place))
                try transaction.setObject(shop, forKey: key, inCollection: "shops")
            }
        }
        let open = try await connection.read { transaction in
            try transaction[shops].rows(
                where: {
                    $0.longitude.isInside(8.4...8.7) && $0.latitude.isInside(49.0...50.0)
                        && ($0.opens...$0.closes).contains(now)
                },
                sort: [.by(\.closes)],
                limit: 50)
        }
        #expect(open.map(\.key) == ["a"])
        let nearest = try await connection.read { transaction in
            try transaction[shops].rows(
                nearest: [.at(\.longitude, 8.4, scale: 0.65), .at(\.latitude, 49.0)],
                limit: 10)
        }
        #expect(nearest.map(\.key) == ["a", "b", "c"])
        let home = YapDatabaseGlobePoint(latitude: 49.0, longitude: 8.4)
        let near = try await connection.read { transaction in
            try transaction[shops].rows(
                withinMetres: 50_000, of: home, latitude: \.latitude, longitude: \.longitude, limit: 10)
        }
        #expect(near.map(\.key) == [])
        #expect(home.metres(to: YapDatabaseGlobePoint(latitude: 50, longitude: 8.4)).rounded() == 111_195)
        let found = try await connection.read { transaction in
            try transaction[shops].keys(
                matching: "longitude_max >= ?1 AND longitude_min <= ?2 AND abs(latitude - longitude) < 45",
                [.real(8.4), .real(8.7)])
        }
        #expect(found == ["a"])
    }
}

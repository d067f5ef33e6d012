import FoundationEssentials
import SQLite

@testable import Yap

/// A shop with a position, hours, and a number that is exact beyond 53 bits.
struct Shop: Codable, Sendable, Equatable, CustomStringConvertible {
    var x = 0.0
    var y: Double? = 0
    var opens: Date?
    var closes: Date?
    var number = 0
    var name = ""

    /// A date without bound has no description.
    var description: String {
        let hours = [opens, closes].map { $0?.timeIntervalSinceReferenceDate }
        return "\(x) \(String(describing: y)) \(hours) \(number) \(name)"
    }

    static func point(_ x: Double, _ y: Double?, name: String = "") -> Shop { Shop(x: x, y: y, name: name) }

    static func hours(_ opens: Double, _ closes: Double) -> Shop {
        Shop(opens: date(opens), closes: date(closes))
    }
}

func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

typealias ShopCondition = YapDatabaseIndexCondition<Shop>
typealias ShopProperties = YapDatabaseIndexProperties<Shop>

/// A database of shops, with an index over their points and one over their hours.
struct RTreeStage {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let points = Self.points()
    let hours = YapDatabaseRTreeIndex("hours", of: Shop.self, in: "shops", version: "1") {
        $0.dimension(from: \.opens, to: \.closes)
    }
    let numbers = YapDatabaseRTreeIndex("numbers", of: Shop.self, in: "shops", version: "1") {
        $0.dimension(\.number)
    }

    static func points(_ name: String = "points", version: String = "1") -> YapDatabaseRTreeIndex<Shop> {
        YapDatabaseRTreeIndex(name, of: Shop.self, in: "shops", version: version) {
            $0.dimension(\.x)
            $0.dimension(\.y)
        }
    }

    init(changedKeysMax: Int = 1_000) throws {
        folder = try TestFolder()
        database = try Self.open(folder, changedKeysMax: changedKeysMax)
        connection = database.newConnection()
    }

    static func open(_ folder: TestFolder, changedKeysMax: Int = 1_000) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.changedKeysPerCommitMax = changedKeysMax
        return try folder.open(options) { $0.register(Shop.self, inCollection: "shops") }
    }

    func set(_ shops: [String: Shop]) throws {
        try connection.blocking.readWrite { transaction in
            for key in shops.keys.sorted() { try transaction.set(shops[key], key) }
        }
    }

    func read<Result>(
        _ index: YapDatabaseRTreeIndex<Shop>,
        _ body: (YapDatabaseRTreeIndexTransaction<Shop>) throws -> Result
    ) throws -> Result {
        try connection.blocking.read { try body($0[index]) }
    }

    func keys(
        _ index: YapDatabaseRTreeIndex<Shop>, _ condition: @escaping (ShopProperties) -> ShopCondition
    ) throws -> [String] {
        try read(index) { try $0.keys(where: condition).sorted() }
    }

    /// How SQLite finds the rows of a condition.
    func plan(_ index: YapDatabaseRTreeIndex<Shop>, _ condition: ShopCondition) throws -> String {
        let sql = index.makeConnection(registeredName: index.name).sql
        let filter = try SecondaryIndexWhere(condition, bounds: sql.bounds) { path in
            sql.exact.column(index.columns.firstIndex { $0.path == path } ?? 0)
        }
        return try connection.blocking.read { transaction in
            let text = "EXPLAIN QUERY PLAN SELECT d.key\(sql.exact.fromWithRows)\(filter.text)"
            return try transaction.sqlite.withStatement(text) { statement in
                var lines: [String] = []
                while try statement.step() { lines.append(statement.text(at: 3)) }
                return lines.joined(separator: "; ")
            }
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    /// Sets a shop, or removes it.
    func set(_ shop: Shop?, _ key: String) throws {
        if let shop {
            try setObject(shop, forKey: key, inCollection: "shops")
        } else {
            try removeObject(forKey: key, inCollection: "shops")
        }
    }
}

import SQLite
import Testing

@testable import Yap

/// How an R-tree index follows the rows, and when its table is made anew.
struct RTreeFollowingTests {
    private let stage: RTreeStage
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }
    private var points: YapDatabaseRTreeIndex<Shop> { stage.points }

    init() throws {
        stage = try RTreeStage()
        try stage.set(["a": .point(1, 1), "b": .point(2, 5), "c": .point(-3, 2.5), "d": .point(2, nil)])
        try database.blocking.register(stage.points)
    }

    private func all(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        try transaction[points].keys(sort: [.by(\.x), .by(\.y)])
    }

    @Test func eachWriteIsFollowedInTheSameTransaction() throws {
        try connection.blocking.readWrite { transaction in
            #expect(try all(transaction) == ["c", "a", "b"])
            try transaction.set(.point(9, 1), "e")
            try transaction.replaceObject(Shop.point(10, 1), forKey: "a", inCollection: "shops")
            try transaction.set(.point(0, 0), "d")
            try transaction.set(.point(0, nil), "c")
            #expect(try all(transaction) == ["d", "b", "e", "a"])
            try transaction.removeObject(forKey: "e", inCollection: "shops")
            try transaction.removeObject(forKey: "c", inCollection: "shops")
            #expect(try all(transaction) == ["d", "b", "a"])
        }
        #expect(try connection.blocking.read(all) == ["d", "b", "a"])
    }

    @Test func whatFailsLeavesNoTrace() throws {
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.removeAllObjects(inCollection: "shops")
                #expect(try all(transaction) == [])
                throw Refused()
            }
        }
        #expect(try connection.blocking.read(all) == ["c", "a", "b"])
        try connection.blocking.readWrite { transaction in
            try transaction.set(.point(-9, 1), "e")
            try? transaction.savepoint { () throws in
                try transaction.set(.point(100, 1), "a")
                try transaction.removeAllObjectsInAllCollections()
                try transaction.set(.point(5, 5), "f")
                #expect(try all(transaction) == ["f"])
                throw Refused()
            }
            #expect(try all(transaction) == ["e", "c", "a", "b"])
        }
        #expect(try connection.blocking.read(all) == ["e", "c", "a", "b"])
    }

    @Test func aReadHasTheIndexOfItsSnapshot() throws {
        let other = database.newConnection()
        try connection.blocking.read { transaction in
            _ = try all(transaction)
            try other.blocking.readWrite { try $0.removeAllObjects(inCollection: "shops") }
            #expect(try all(transaction) == ["c", "a", "b"])
        }
        #expect(try connection.blocking.read(all) == [])
    }

    @Test func anUpdateThatChangesNoNumberWritesNothingIntoTheIndex() throws {
        func writes(_ shop: Shop) throws -> Int {
            try connection.blocking.readWrite { transaction in
                let before = transaction.sqlite.totalChangesCount
                try transaction.set(shop, "a")
                return transaction.sqlite.totalChangesCount - before
            }
        }
        #expect(try writes(.point(1, 1)) == 1)
        #expect(try writes(.point(1, 1, name: "new")) == 1)
        #expect(try writes(.point(1, 1.5)) > 1)
        // No row of the index before or after.
        #expect(try writes(.point(1, nil)) > 1)
        #expect(try writes(.point(2, nil)) == 1)
    }

    @Test func anIndexIsFilledAnewWhenItsVersionOrItsDimensionsChange() throws {
        try connection.blocking.readWrite {
            try $0.sqlite.execute("DELETE FROM rtreeIndex_points WHERE rowid = 1")
        }
        try database.blocking.close()
        func count(_ index: YapDatabaseRTreeIndex<Shop>, _ write: Shop? = nil) throws -> Int {
            let database = try RTreeStage.open(stage.folder)
            defer { try? database.blocking.close() }
            if let write { try database.newConnection().blocking.readWrite { try $0.set(write, "late") } }
            try database.blocking.register(index)
            return try database.newConnection().blocking.read { try $0[index].count() }
        }
        // As it was, without a row that was deleted behind its back.
        #expect(try count(points) == 2)
        #expect(try count(RTreeStage.points(version: "2")) == 3)
        let range = YapDatabaseRTreeIndex("points", of: Shop.self, in: "shops", version: "2") {
            $0.dimension(from: \.x, to: \.y)
        }
        #expect(try count(range) == 3)
        let one = YapDatabaseRTreeIndex("points", of: Shop.self, in: "shops", version: "2") {
            $0.dimension(\.x)
        }
        #expect(try count(one) == 4)
        // Rows were written without it.
        #expect(try count(one, .point(7, 7)) == 5)
    }

    @Test func anIndexCatchesUpWithRowsThatWereWrittenWithoutIt() throws {
        try database.blocking.close()
        // A row of the index that no write concerned.
        let without = try RTreeStage.open(stage.folder)
        try without.newConnection().blocking.readWrite { transaction in
            try transaction.sqlite.execute("UPDATE rtreeIndex_points SET x = -4, x_min = -4 WHERE x = -3")
            try transaction.set(.point(8, 8), "b")
            try transaction.set(nil, "a")
            try transaction.set(.point(0, 0), "d")
            try transaction.set(.point(9, 9), "e")
        }
        try without.blocking.close()
        let again = try RTreeStage.open(stage.folder)
        try again.blocking.register(points)
        let found = try again.newConnection().blocking.read { transaction in
            #expect(try transaction[points].count { $0.x == -4 } == 1)
            return try all(transaction)
        }
        #expect(found == ["c", "d", "b", "e"])
    }

    @Test func anObservedQueryRunsAgainAfterAChangeInItsRegionAlone() throws {
        func isObserved(_ shop: Shop?, _ key: String) throws -> Bool {
            try connection.isObserved {
                _ = try $0[points].count { $0.x.isInside(0...3) && $0.y.isInside(0...3) }
            } whenWriting: {
                try $0.set(shop, key)
            }
        }
        #expect(try isObserved(.point(2, 2), "e"))
        #expect(try isObserved(.point(2, 4), "e"))
        #expect(try !isObserved(.point(3.0.nextUp, 2), "e"))
        #expect(try !isObserved(.point(2, nil), "e"))
        #expect(try !isObserved(.point(1, 1, name: "new"), "a"))
        #expect(try isObserved(nil, "a"))
        #expect(try !isObserved(nil, "b"))
    }

    @Test func anUnregisteredIndexLeavesNoTable() throws {
        func tables() throws -> Int {
            try connection.blocking.read { transaction in
                let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%rtreeIndex%'"
                return try transaction.sqlite.withStatement(sql) { try $0.step() ? Int($0.int64(at: 0)) : -1 }
            }
        }
        // The table, its three, and an index of SQLite's own for none of them.
        #expect(try tables() == 4)
        try database.blocking.unregister("points")
        #expect(try tables() == 0)
        #expect(
            code { _ = try connection.blocking.read { try $0[points].count() } } == .extensionNotRegistered)
        try database.blocking.register(points)
        #expect(try connection.blocking.read(all) == ["c", "a", "b"])
    }

    @Test func onlyIncludedObjectsAreInTheIndex() throws {
        let near = YapDatabaseRTreeIndex(
            "near", of: Shop.self, in: "shops", version: "1", including: { $0.name != "closed" }
        ) { $0.dimension(\.x) }
        try database.blocking.register(near)
        try stage.set(["a": .point(1, 1, name: "closed")])
        #expect(try stage.keys(near) { $0.x > -100 } == ["b", "c", "d"])
    }

    @Test(arguments: ["it's \"quoted\"", "a;b--", "ü 漢", "select", "100%_", "[x]"])
    func anyNameIsAName(name: String) throws {
        let index = RTreeStage.points(name)
        try database.blocking.register(index)
        try stage.set(["e": .point(50, 50)])
        #expect(try stage.keys(index) { $0.x > 10 } == ["e"])
        try database.blocking.unregister(name)
        try database.blocking.register(index)
        #expect(try stage.read(index) { try $0.count() } == 4)
    }

    @Test func columnsMayBeCalledAsWordsOfSQL() throws {
        let index = YapDatabaseRTreeIndex("words", of: Shop.self, in: "shops", version: "1") {
            $0.dimension(\.x, "order")
            $0.dimension(\.y, "1st")
            $0.dimension(from: \.opens, "from", to: \.closes, "to")
            $0.dimension(\.number, "id")
        }
        try database.blocking.register(index)
        var shop = Shop.hours(1, 2)
        shop.number = 7
        try stage.set(["e": shop])
        #expect(try stage.keys(index) { $0.x == 0 && $0.closes > date(1) && $0.number == 7 } == ["e"])
        #expect(try stage.read(index) { try $0.count(matching: "\"from\" = 1 AND id_max = 7") } == 1)
    }

    @Test func mistakesInADescriptionAreErrors() throws {
        typealias Dimensions = YapDatabaseRTreeDimensions<Shop>
        func registering(_ name: String = "wrong", _ describe: (inout Dimensions) -> Void)
            -> YapDatabaseError.Code?
        {
            let wrong = YapDatabaseRTreeIndex(name, of: Shop.self, in: "shops", version: "1", describe)
            return code { try database.blocking.register(wrong) }
        }
        #expect(registering { _ in } == .invalidExtension)
        #expect(
            registering {
                $0.dimension(\.x); $0.dimension(\.x)
            } == .invalidExtension)
        #expect(
            registering {
                $0.dimension(\.x, "y_min"); $0.dimension(\.y)
            } == .invalidExtension)
        #expect(
            registering {
                for (place, path) in [\Shop.x, \.x.magnitude, \.x.ulp, \.x.nextUp, \.x.nextDown, \.x.binade]
                    .enumerated()
                {
                    $0.dimension(path, "n\(place)")
                }
            } == .invalidExtension)
        #expect(registering { $0.dimension(\.x, "rowid") } == .invalidExtension)
        #expect(registering { $0.dimension(\.x.magnitude) } == .invalidExtension)
        // SQLite's own tables of the other index, and a table of the same name.
        #expect(registering("points_node") { $0.dimension(\.x) } == .invalidExtension)
        #expect(registering("POINTS") { $0.dimension(\.x) } == .invalidExtension)
        let other = YapDatabaseRTreeIndex("other", of: Shop.self, in: "todos", version: "1") {
            $0.dimension(\.x)
        }
        #expect(code { try database.blocking.register(other) } == .typeMismatch)
        #expect(database.registeredExtensionNames == ["points"])
    }

    @Test func anotherClassMayTakeTheName() throws {
        try database.blocking.close()
        let database = try RTreeStage.open(stage.folder)
        let index = YapDatabaseSecondaryIndex("points", of: Shop.self, in: "shops", version: "1") {
            $0.column(\.x)
        }
        try database.blocking.register(index)
        let connection = database.newConnection()
        #expect(try connection.blocking.read { try $0[index].count() } == 4)
        let left = try connection.blocking.read { transaction in
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'rtreeIndex%'"
            return try transaction.sqlite.withStatement(sql) { try $0.step() ? $0.int64(at: 0) : -1 }
        }
        #expect(left == 0)
    }

    @Test func anIndexIsNotUsedAfterItsTransaction() throws {
        let ended = try connection.blocking.read { try $0[points] }
        #expect(code { _ = try ended.count() } == .transactionEnded)
        #expect(code { _ = try ended.keys(nearest: [.at(\.x, 1)], limit: 1) } == .transactionEnded)
    }
}

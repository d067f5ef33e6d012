import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// Views against a plain model, under drawn writes.
@Suite struct ViewModelTests {
    struct Item: Codable, Sendable, Equatable {
        var group: Int?
        var rank: Int
    }

    private typealias View = YapDatabaseAutoView<Item, Int>

    /// How a view is ordered, and by what.
    private struct Order {
        var isDescending = false
        /// Whether rows are sorted by metadata first, and those with an number of 7 are left out.
        var usesMetadata = false
        /// Whether closures compare rows. Otherwise values of the rows are stored.
        var isCompared = false

        /// Each order is drawn by some seeds.
        init(seed: UInt64, isCompared: Bool = false) {
            (isDescending, usesMetadata) = (seed % 2 == 0, seed / 2 % 2 == 0)
            self.isCompared = isCompared
        }

        func has(_ metadata: Int?) -> Bool { !usesMetadata || metadata != 7 }
    }

    private static func view(_ order: Order) -> View {
        let direction: YapDatabaseViewSort<Item>.Order = order.isDescending ? .descending : .ascending
        let byRank: YapDatabaseViewSort<Item> =
            order.isCompared
            ? .by { order.isDescending ? $0.rank > $1.rank : $0.rank < $1.rank } : .by(\.rank, direction)
        guard order.usesMetadata else {
            return View(
                "items", of: Item.self, in: "items", version: "1", group: { $0.group }, sort: [byRank])
        }
        let byMetadata: YapDatabaseViewSort<Item> =
            order.isCompared
            ? .by(metadata: Int.self) { first, second in
                let (first, second) = (first ?? -1, second ?? -1)
                return order.isDescending ? first > second : first < second
            } : .by(metadata: \Int.self, direction)
        return View(
            "items", of: Item.self, metadata: Int.self, in: "items", version: "1",
            group: { _, item, metadata in order.has(metadata) ? item.group : nil },
            sort: [byMetadata, byRank])
    }

    /// Draws writes of few or many rows.
    private struct Writer {
        let random: SeededRandomSource
        /// Few keys are written again and again; many make pages split.
        let keysMax: Int
        var clearsAll = true

        func below(_ bound: Int) -> Int { random.next(in: 0..<bound) }

        func item() -> Item {
            Item(group: below(8) == 0 ? nil : below(3), rank: below(2) == 0 ? below(4) : below(100_000))
        }

        func write(_ transaction: YapDatabaseReadWriteTransaction) throws {
            let key = "k\(below(keysMax))"
            switch below(14) {
            case 12: try transaction.replaceMetadata(below(9), forKey: key, inCollection: "items")
            case 13: try transaction.setObject(item(), metadata: below(9), forKey: key, inCollection: "items")
            case 0...1: try transaction.removeObject(forKey: key, inCollection: "items")
            case 2: try transaction.replaceObject(item(), forKey: key, inCollection: "items")
            case 3: try transaction.touchRow(forKey: key, inCollection: "items")
            case 4:
                let metadata = below(4) == 0 ? nil : below(9)
                try transaction.replaceMetadata(metadata, forKey: key, inCollection: "items")
            case 5 where below(40) == 0: try transaction.removeAllObjects(inCollection: "items")
            case 6 where below(60) == 0 && clearsAll: try transaction.removeAllObjectsInAllCollections()
            case 7 where below(4) == 0:
                let keys = (0..<below(keysMax)).map { "k\($0)" }
                try transaction.removeObjects(forKeys: keys, inCollection: "items")
            default: try transaction.setObject(item(), forKey: key, inCollection: "items")
            }
        }
    }

    /// The groups as a plain sort of all rows has them.
    private static func expected(_ transaction: YapDatabaseReadTransaction, _ order: Order) throws
        -> [Int: [String]]
    {
        typealias Row = (metadata: Int, rank: Int, rowID: Int64, key: String)
        var rows: [Int: [Row]] = [:]
        for row in try transaction.rows(Item.self, metadata: Int.self, inCollection: "items") {
            guard order.has(row.metadata), let group = row.object.group,
                let rowID = try transaction.rowID(forKey: row.key, inCollection: "items")
            else { continue }
            let sign = order.isDescending ? -1 : 1
            let metadata = order.usesMetadata ? sign * (row.metadata ?? -1) : 0
            rows[group, default: []].append((metadata, sign * row.object.rank, rowID, row.key))
        }
        return rows.mapValues { rows in
            rows.sorted { ($0.metadata, $0.rank, $0.rowID) < ($1.metadata, $1.rank, $1.rowID) }.map(\.key)
        }
    }

    private static func actual(_ view: YapDatabaseViewTransaction<Item, Int>) throws -> [Int: [String]] {
        try view.counts().keys.reduce(into: [:]) { $0[$1] = try view.keys(in: $1) }
    }

    /// What the tables of groups and pages say against the entries.
    private static func audit(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        func rows(_ sql: String) throws -> [String] {
            try transaction.sqlite.withStatement(sql) { statement in
                var rows: [String] = []
                while try statement.step() { rows.append(statement.text(at: 0)) }
                return rows
            }
        }
        return try rows(
            """
            SELECT 'group ' || id FROM viewGroups_items AS g
            WHERE count <> (SELECT count(*) FROM view_items WHERE grp = g.id) OR count < 1
            UNION ALL SELECT 'entry without group' FROM view_items WHERE grp NOT IN (SELECT id FROM viewGroups_items)
            UNION ALL SELECT 'pages without group' FROM viewPages_items
            WHERE grp NOT IN (SELECT id FROM viewGroups_items)
            UNION ALL SELECT 'page ' || p.count FROM viewPages_items AS p WHERE count > 512 OR count <>
            (SELECT count(*) FROM view_items AS v WHERE v.grp = p.grp AND (v.sort, v.row) >= (p.sort, p.row)
             AND NOT EXISTS (SELECT 1 FROM viewPages_items AS q WHERE q.grp = p.grp
              AND (q.sort, q.row) > (p.sort, p.row) AND (q.sort, q.row) <= (v.sort, v.row)))
            """)
    }

    private func compare(_ order: Order, seed: UInt64, keysMax: Int, transactions: Int, writesMax: Int) throws
    {
        let folder = try TestFolder()
        let writer = Writer(random: SeededRandomSource(seed: seed), keysMax: keysMax)
        let view = Self.view(order)
        func open() throws -> YapDatabase {
            let database = try folder.open {
                $0.register(Item.self, metadata: Int.self, inCollection: "items")
            }
            try database.blocking.register(view)
            return database
        }
        func compare(_ transaction: YapDatabaseReadTransaction) throws {
            let (actual, expected) = (
                try Self.actual(try transaction[view]), try Self.expected(transaction, order)
            )
            #expect(actual == expected)
        }
        var database = try open()
        var (connection, reader) = (database.newConnection(), database.newConnection())
        for _ in 0..<transactions {
            let fails = writer.below(6) == 0
            try connection.blocking.readWrite { transaction in
                for _ in 0...writer.below(writesMax) {
                    if writer.below(10) == 0 {
                        try? transaction.savepoint {
                            for _ in 0...writer.below(4) { try writer.write(transaction) }
                            if writer.below(2) == 0 { throw Refused() }
                        }
                    }
                    try writer.write(transaction)
                    if writer.below(20) == 0 {
                        try compare(transaction)
                    }
                }
                if fails { transaction.rollback() }
            }
            try reader.blocking.read { transaction in
                try compare(transaction)
                #expect(try Self.audit(transaction) == [])
            }
            if writer.below(20) == 0 {
                try database.blocking.close()
                database = try open()
                (connection, reader) = (database.newConnection(), database.newConnection())
            }
        }
        try database.blocking.close()
    }

    @Test(arguments: TestSeed.values(count: 10))
    func aViewOfFewRowsIsAsAPlainSortHasIt(seed: UInt64) throws {
        try compare(Order(seed: seed), seed: seed, keysMax: 12, transactions: 60, writesMax: 6)
    }

    @Test(arguments: TestSeed.values(count: 10))
    func aViewOfFewRowsThatComparesIsAsAPlainSortHasIt(seed: UInt64) throws {
        let order = Order(seed: seed, isCompared: true)
        try compare(order, seed: seed, keysMax: 12, transactions: 60, writesMax: 6)
    }

    @Test(arguments: TestSeed.values(count: 2))
    func aViewOfManyRowsIsAsAPlainSortHasIt(seed: UInt64) throws {
        try compare(Order(seed: seed), seed: seed, keysMax: 4_000, transactions: 8, writesMax: 3_000)
    }

    @Test(arguments: TestSeed.values(count: 2))
    func aViewOfManyRowsThatComparesIsAsAPlainSortHasIt(seed: UInt64) throws {
        let order = Order(seed: seed, isCompared: true)
        try compare(order, seed: seed, keysMax: 4_000, transactions: 8, writesMax: 3_000)
    }

    /// Deltas of several commits at once, against the lists before and after.
    @Test(arguments: TestSeed.values(count: 10), [false, true])
    func theChangesOfSeveralCommitsLeadFromOneListToTheOther(seed: UInt64, isCompared: Bool) throws {
        let folder = try TestFolder()
        let database = try folder.open { $0.register(Item.self, metadata: Int.self, inCollection: "items") }
        let view = Self.view(Order(seed: seed, isCompared: isCompared))
        try database.blocking.register(view)
        let (connection, reader) = (database.newConnection(), database.newConnection())
        let seen = CommitList()
        database.addInlineCommitObserver { seen.add($0) }
        let writer = Writer(random: SeededRandomSource(seed: seed), keysMax: 15)
        var before: [Int: [String]] = [:]
        var hasDeltas = false
        for _ in 0..<40 {
            let count = seen.commits.count
            for _ in 0...writer.below(4) {
                try connection.blocking.readWrite { transaction in
                    for _ in 0...writer.below(3) { try writer.write(transaction) }
                }
            }
            var changes = ViewChanges<Int>()
            for commit in seen.commits[count...] {
                if let later = commit.changes(ofExtension: "items") as? ViewChanges<Int> {
                    changes.add(later)
                }
            }
            let (after, deltas) = try reader.blocking.read { transaction in
                (try Self.actual(transaction[view]), try transaction[view].deltas(changes))
            }
            if !changes.isEverything {
                #expect(applying(deltas, to: before, final: after) == after)
                hasDeltas = hasDeltas || !deltas.isEmpty
            }
            before = after
        }
        #expect(hasDeltas)
    }

    /// The other instance acts as a process without the view.
    @Test(arguments: TestSeed.values(count: 5))
    func aViewCatchesUpWithTheWritesOfAnInstanceThatLacksIt(seed: UInt64) throws {
        let folder = try TestFolder()
        // The clearing of all collections isn't logged: the view is then filled anew.
        let writer = Writer(
            random: SeededRandomSource(seed: seed), keysMax: seed % 2 == 0 ? 12 : 600, clearsAll: false)
        func open() throws -> YapDatabase {
            try folder.open { $0.register(Item.self, metadata: Int.self, inCollection: "items") }
        }
        let lacking = try open().newConnection()
        let order = Order(seed: seed)
        let view = Self.view(order)
        let seen = CommitList()
        var (database, before, isCompared) = (try open(), [Int: [String]](), false)
        database.addInlineCommitObserver { seen.add($0) }
        try database.blocking.register(view)
        for _ in 0..<30 {
            try lacking.blocking.readWrite { transaction in
                for _ in 0..<writer.below(12) { try writer.write(transaction) }
            }
            let isReopened = writer.below(8) == 0
            if isReopened {
                try database.blocking.close()
                database = try open()
                database.addInlineCommitObserver { seen.add($0) }
                try database.blocking.register(view)
            }
            let count = seen.commits.count
            let connection = database.newConnection()
            try connection.blocking.readWrite { transaction in
                for _ in 0...writer.below(4) { try writer.write(transaction) }
                if writer.below(6) == 0 { transaction.rollback() }
            }
            // The write before may have been undone, with the healing.
            try connection.blocking.readWrite { try writer.write($0) }
            let changes = seen.commits[count...].compactMap {
                $0.changes(ofExtension: "items") as? ViewChanges<Int>
            }
            try connection.blocking.read { transaction in
                let (part, all) = (try transaction[view], changes.reduce(into: ViewChanges()) { $0.add($1) })
                let after = try Self.actual(part)
                #expect(try after == Self.expected(transaction, order))
                #expect(try Self.audit(transaction) == [])
                if !all.isEverything, !isReopened {
                    #expect(applying(try part.deltas(all), to: before, final: after) == after)
                    isCompared = true
                }
                before = after
            }
        }
        #expect(isCompared)
    }

    /// A database with a view, and writes of instances that lack it.
    private struct Stage {
        let folder: TestFolder
        let calls = Lock(0)
        let view: View

        init() throws {
            folder = try TestFolder()
            view = View("items", of: Item.self, in: "items", version: "1") { [calls] item in
                calls.withLock { $0 += 1 }
                return item.group
            }
        }

        func open(withView: Bool = true) throws -> YapDatabaseConnection {
            let database = try folder.open {
                $0.register(Item.self, metadata: Int.self, inCollection: "items")
            }
            if withView { try database.blocking.register(view) }
            return database.newConnection()
        }

        func set(_ numbers: Range<Int>, _ group: Int, _ connection: YapDatabaseConnection) throws {
            try connection.blocking.readWrite { transaction in
                for number in numbers {
                    try transaction.setObject(
                        Item(group: group, rank: 0), forKey: "\(number)", inCollection: "items")
                }
            }
        }
    }

    @Test func aViewThatCatchesUpPlacesOnlyTheRowsThatItMissed() throws {
        let stage = try Stage()
        let first = try stage.open()
        try stage.set(0..<100, 1, first)
        try first.database.blocking.close()
        try stage.set(97..<103, 2, try stage.open(withView: false))
        stage.calls.withLock { $0 = 0 }
        let counts = try stage.open().blocking.read { try $0[stage.view].counts() }
        #expect(counts == [1: 97, 2: 6])
        #expect(stage.calls.withLock { $0 } == 6)
    }

    @Test func aNewRowMayHaveTheRowidOfARemovedOneThatAViewStillHasWhileItCatchesUp() throws {
        let stage = try Stage()
        let connection = try stage.open()
        let missedCount = ExtensionCatchUp.batchEntriesMax * 2
        try stage.set(0..<missedCount + 1, 1, connection)
        let lacking = try stage.open(withView: false)
        try stage.set(0..<missedCount, 2, lacking)
        try lacking.blocking.readWrite {
            try $0.removeObject(forKey: "\(missedCount)", inCollection: "items")
        }
        try stage.set(9_000..<9_001, 3, connection)
        for number in 0..<3 { try stage.set(number..<number + 1, 2, connection) }
        let (counts, faults) = try connection.blocking.read { transaction in
            (try transaction[stage.view].counts(), try Self.audit(transaction))
        }
        #expect(counts == [2: missedCount, 3: 1])
        #expect(faults == [])
    }

    /// Takes out what left its place and puts in what has a new one.
    private func applying(
        _ deltas: [ViewRowDelta<Int>], to before: [Int: [String]], final: [Int: [String]]
    ) -> [Int: [String]] {
        var lists = before
        let moved = deltas.filter { !$0.keptPlace }
        for place in moved.compactMap(\.original).sorted(by: { $0.index > $1.index }) {
            guard place.index < lists[place.group, default: []].count else {
                Issue.record("no row \(place.index) in \(place.group)")
                continue
            }
            lists[place.group]?.remove(at: place.index)
        }
        for place in moved.compactMap(\.final).sorted(by: { $0.index < $1.index }) {
            guard let key = final[place.group]?[place.index] else { continue }
            lists[place.group, default: []].insert(key, at: place.index)
        }
        for delta in deltas where delta.keptPlace {
            // Rows that stayed have the same key at both ends.
            guard let original = delta.original, let final = delta.final else { continue }
            let key = before[original.group]?[original.index]
            #expect(key == lists[final.group]?[final.index])
        }
        return lists.filter { !$0.value.isEmpty }
    }
}

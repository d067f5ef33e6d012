import Seams
import TestSeed
import Testing

@testable import Yap

/// All kinds of extensions at once, in two instances that act as two processes and register now these, now those.
/// An extension that can be read equals a plain model of the rows, whichever process wrote them.
@Suite struct AllExtensionsModelTests {
    struct Item: Codable, Sendable, Equatable {
        var name: String
        var group: Int?
        var x: Double
    }

    private static let collection = "items"
    private static let words = ["ant", "bee", "cow", "dog"]

    /// The extensions of one instance: closures are the same in all.
    private struct Extensions {
        let index = YapDatabaseSecondaryIndex("index", of: Item.self, in: collection, version: "1") {
            $0.column(\.name)
        }
        let view = YapDatabaseAutoView(
            "view", of: Item.self, in: collection, version: "1", group: { $0.group }, sort: [.by(\.x)])
        let text = YapDatabaseFullTextSearch("text", of: Item.self, in: collection, version: "1") {
            $0.column(\.name)
        }
        let tree = YapDatabaseRTreeIndex("tree", of: Item.self, in: collection, version: "1") {
            $0.dimension(\.x)
        }
        let vectors = YapDatabaseVectorIndex(
            "vectors", of: Item.self, in: collection, version: "1", dimensions: 2,
            distance: .squaredEuclidean, blockBytesMax: 100
        ) { item in item.group.map { [Float(item.x), Float($0)] } }
        let filtered: YapDatabaseFilteredView<Item, Int>
        let results: YapDatabaseSearchResultsView<Item, Int>
        let board = YapDatabaseManualView(
            "board", of: Item.self, in: collection, groups: Int.self, version: "1")
        let filteredBoard: YapDatabaseFilteredView<Item, Int>
        let boardResults: YapDatabaseSearchResultsView<Item, Int>

        init() {
            filteredBoard = YapDatabaseFilteredView("filteredBoard", of: board, version: "1") { _, item in
                item.x >= 50
            }
            boardResults = YapDatabaseSearchResultsView(
                "boardResults", of: board, matching: text, isPersistent: true)
            filtered = YapDatabaseFilteredView("filtered", of: view, version: "1") { _, item in item.x >= 50 }
            results = YapDatabaseSearchResultsView("results", of: view, matching: text, isPersistent: true)
        }

        /// Registers those whose bit is set, in an order in which dependencies come first.
        func register(_ bits: Int, in database: YapDatabase) throws {
            let all: [any YapDatabaseNamedExtension] = [
                index, view, text, tree, filtered, results, board, filteredBoard, boardResults, vectors,
            ]
            for (bit, one) in all.enumerated() where bits >> bit & 1 == 1 {
                let dependencies = one.dependencies
                guard dependencies.allSatisfy(database.registeredExtensionNames.contains) else { continue }
                try register(one, in: database)
            }
        }

        private func register(_ one: some YapDatabaseNamedExtension, in database: YapDatabase) throws {
            try database.blocking.register(one)
        }
    }

    private static let allBits = 1023

    /// The rows, and what each extension has of them.
    private struct Model {
        var items: [String: Item] = [:]

        private func keys(_ isIncluded: (Item) -> Bool = { _ in true }) -> [Int: [String]] {
            let rows = items.filter { $0.value.group != nil && isIncluded($0.value) }
            return Dictionary(grouping: rows) { $0.value.group ?? 0 }
                .mapValues { rows in rows.sorted { $0.value.x < $1.value.x }.map(\.key) }
        }

        func differences(_ extensions: Extensions, _ transaction: YapDatabaseReadTransaction) throws
            -> [String]
        {
            var differences: [String] = []
            func compare<Value: Equatable>(
                _ name: String, _ expected: Value, _ read: () throws -> Value
            ) throws {
                do {
                    let actual = try read()
                    if actual != expected { differences.append("\(name): \(actual), not \(expected)") }
                } catch let error as YapDatabaseError where error.code == .extensionNotRegistered {
                    // Not registered here, or left behind: it isn't read, which is never stale.
                    return
                }
            }
            let rows = try transaction.objects(Item.self, inCollection: collection)
            try compare("rows", items) { Dictionary(uniqueKeysWithValues: rows.map { ($0.key, $0.object) }) }
            for word in words {
                let found = items.filter { $0.value.name == word }.keys.sorted()
                try compare("index", found) {
                    try transaction[extensions.index].keys(where: { $0.name == word }).sorted()
                }
                try compare("text", found) { try transaction[extensions.text].keys(.words(word)).sorted() }
            }
            try compare("tree", items.filter { (20...70).contains($0.value.x) }.keys.sorted()) {
                try transaction[extensions.tree].keys(where: { $0.x.isInside(20...70) }).sorted()
            }
            let distances = items.values.compactMap { item in
                item.group.map { (Float(item.x) - 50) * (Float(item.x) - 50) + Float($0 * $0) }
            }
            try compare("vectors", distances.sorted()) {
                try transaction[extensions.vectors].keys(nearest: [50, 0], limit: 100).map(\.distance)
            }
            let grouped = items.filter { $0.value.group != nil }.keys.sorted()
            try compare("keys of vectors", grouped) {
                try transaction[extensions.vectors].rows(nearest: [50, 0], limit: 100).map(\.key).sorted()
            }
            try compare("view", keys()) { try Self.keys(try transaction[extensions.view]) }
            try compare("filtered", keys { $0.x >= 50 }) {
                try Self.keys(try transaction[extensions.filtered])
            }
            try compare("results", keys { $0.name == words[0] }) {
                let results = try transaction[extensions.results]
                return try results.query == nil ? keys { $0.name == words[0] } : Self.keys(results)
            }
            guard let board = try? transaction[extensions.board] else { return differences }
            // Which rows the app placed is the board's own; its views have those of them that belong there.
            func placed(_ isIncluded: (Item) -> Bool) throws -> [Int: [String]] {
                let keys = try board.groups().map { group in
                    (group, try board.rows(in: group).filter { isIncluded($0.object) }.map(\.key))
                }
                return Dictionary(uniqueKeysWithValues: keys.filter { !$0.1.isEmpty })
            }
            try compare("filteredBoard", placed { $0.x >= 50 }) {
                try Self.keys(try transaction[extensions.filteredBoard])
            }
            let found = try placed { $0.name == words[0] }
            try compare("boardResults", found) {
                let results = try transaction[extensions.boardResults]
                return try results.query == nil ? found : Self.keys(results)
            }
            return differences
        }

        private static func keys(_ view: YapDatabaseViewTransaction<Item, Int>) throws -> [Int: [String]] {
            try view.counts().keys.reduce(into: [:]) { $0[$1] = try view.keys(in: $1) }
        }
    }

    /// Draws writes, and applies them to the model too.
    private struct Writer {
        let random: SeededRandomSource

        func below(_ bound: Int) -> Int { random.next(in: 0..<bound) }

        func write(_ transaction: YapDatabaseReadWriteTransaction, _ items: inout [String: Item]) throws {
            let key = "k\(below(30))"
            switch below(10) {
            case 0...1:
                try transaction.removeObject(forKey: key, inCollection: collection)
                items[key] = nil
            case 2 where below(20) == 0:
                try transaction.removeAllObjects(inCollection: collection)
                items = [:]
            case 3 where below(30) == 0:
                try transaction.removeAllObjectsInAllCollections()
                items = [:]
            default:
                // No two rows have one `x`, so that the order of a view is known.
                let item = Item(
                    name: words[below(words.count)], group: below(5) == 0 ? nil : below(3),
                    x: Double(below(100)) + Double(below(1_000_000)) / 1_000_000)
                try transaction.setObject(item, forKey: key, inCollection: collection)
                items[key] = item
            }
        }
    }

    private struct Refused: Error {}

    /// Places rows on the board and searches, where an instance has them.
    private static func place(
        _ writer: Writer, _ extensions: Extensions, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        if let board = try? transaction[extensions.board] {
            for _ in 0..<writer.below(4) {
                let (key, group, index) = ("k\(writer.below(30))", writer.below(3), writer.below(8))
                switch writer.below(4) {
                case 0: try board.move(key, to: index, in: group)
                case 1: try board.remove(key)
                default: try board.insert(key, at: index, in: group)
                }
            }
        }
        if writer.below(10) == 0, let results = try? transaction[extensions.results] {
            try results.search(.words(words[0]))
        }
        if writer.below(5) == 0, let results = try? transaction[extensions.boardResults] {
            try results.search(.words(words[0]))
        }
    }

    /// An instance of the database, as a process has it.
    private final class Instance {
        let extensions = Extensions()
        private(set) var connection: YapDatabaseConnection

        init(_ folder: TestFolder, bits: Int) throws {
            connection = try Self.open(folder, extensions, bits)
        }

        func reopen(_ folder: TestFolder, bits: Int) throws {
            try connection.database.blocking.close()
            connection = try Self.open(folder, extensions, bits)
        }

        private static func open(_ folder: TestFolder, _ extensions: Extensions, _ bits: Int) throws
            -> YapDatabaseConnection
        {
            let database = try folder.open { $0.register(Item.self, inCollection: collection) }
            try extensions.register(bits, in: database)
            return database.newConnection()
        }

        func write(_ writer: Writer, _ model: inout Model) throws {
            var items = model.items
            let isUndone = writer.below(8) == 0
            try connection.blocking.readWrite { transaction in
                // Sometimes rows are placed and none is written.
                for _ in 0..<writer.below(7) {
                    if writer.below(8) == 0 {
                        var inner = items
                        let fails = writer.below(2) == 0
                        try? transaction.savepoint {
                            for _ in 0...writer.below(3) { try writer.write(transaction, &inner) }
                            if fails { throw Refused() }
                        }
                        if !fails { items = inner }
                    }
                    try writer.write(transaction, &items)
                }
                try AllExtensionsModelTests.place(writer, extensions, transaction)
                if isUndone { transaction.rollback() }
            }
            if !isUndone { model.items = items }
        }

        func differences(_ model: Model) throws -> [String] {
            try connection.blocking.read { try model.differences(extensions, $0) }
        }
    }

    @Test(arguments: TestSeed.values(count: 6))
    func anExtensionThatCanBeReadEqualsTheRowsWhicheverProcessWroteThem(seed: UInt64) throws {
        let folder = try TestFolder()
        let writer = Writer(random: SeededRandomSource(seed: seed))
        let instances = [try Instance(folder, bits: Self.allBits), try Instance(folder, bits: 0)]
        var model = Model()
        for step in 0..<60 {
            let instance = instances[writer.below(2)]
            if writer.below(10) == 0 {
                let bits = writer.below(2) == 0 ? Self.allBits : writer.below(Self.allBits + 1)
                try instance.reopen(folder, bits: bits)
            } else {
                try instance.write(writer, &model)
            }
            for (number, instance) in instances.enumerated() {
                let differences = try instance.differences(model)
                try #require(differences == [], "step \(step), instance \(number)")
            }
        }
        // Registered again, everything can be read.
        try instances[1].connection.database.blocking.close()
        try instances[0].reopen(folder, bits: Self.allBits)
        let (extensions, items) = (instances[0].extensions, model.items)
        try instances[0].connection.blocking.read { transaction in
            #expect(try transaction[extensions.index].count() == items.count)
            #expect(try transaction[extensions.tree].count() == items.count)
            _ = try transaction[extensions.vectors].count()
            _ = try transaction[extensions.filtered].counts()
            _ = try transaction[extensions.results].query
            _ = try transaction[extensions.filteredBoard].counts()
            _ = try transaction[extensions.boardResults].query
            #expect(try model.differences(extensions, transaction) == [])
        }
        try instances[0].connection.database.blocking.close()
    }
}

import SQLite
import Testing

@testable import Yap

/// How a view of search results runs its query for written rows, and what it does when the stored query is damaged.
@Suite struct SearchResultsQueryTests {
    private typealias Stage = SearchResultsStage
    private typealias Errand = Stage.Errand
    private typealias Query = Stage.Query

    private let stage: Stage

    init() throws { stage = try Stage(isPersistent: true) }

    // MARK: Together

    @Test func aTransactionThatWritesManyRowsRunsTheQueryOnce() throws {
        let database = try stage.open()
        try stage.look(for: .prefix("m"), database)
        func runs(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Int {
            try database.write { transaction in
                try body(transaction)
                let part = try transaction[stage.found]
                try part.placePending()
                return try part.searchPart().runsCount
            }
        }
        let writes = try runs { transaction in
            for number in 0..<1_000 {
                let title = number % 2 == 0 ? "milk" : "tea"
                try transaction.set(Errand(title: title, priority: number), "k\(number)")
            }
        }
        #expect(writes == 1)
        #expect(try stage.keys(database)["home"]?.count == 500)
        // Several writes of one row, and a removal, are one row and none.
        let single = try runs { transaction in
            for title in ["tea", "milk", "mint"] { try transaction.set(Errand(title: title), "k1") }
            try transaction.set(Errand(title: "milk"), "k3")
            try transaction.removeErrand("k3")
        }
        #expect(single == 1)
        #expect(try stage.keys(database)["home"]?.contains("k1") == true)
        // What is read in between is right each time.
        let read = try runs { transaction in
            for number in 0..<3 {
                try transaction.set(Errand(title: "milk"), "r\(number)")
                #expect(try transaction[stage.found].place(ofKey: "r\(number)") != nil)
            }
        }
        #expect(read == 3)
    }

    @Test func viewsOfTheResultsFollowRowsThatAreWrittenTogether() throws {
        let filtered = YapDatabaseFilteredView("filtered", of: stage.found, version: "1") { $1.priority > 1 }
        let inner = Stage.Found("inner", of: filtered, matching: stage.search)
        let last = YapDatabaseFilteredView("last", of: inner, version: "1") { $1.priority < 9 }
        let database = try stage.open()
        try database.add(filtered)
        try database.add(inner)
        try database.add(last)
        try stage.look(for: .words("milk"), database)
        try database.write { try $0[inner].search(.words("oat")) }
        func check(_ keys: [String], _ transaction: YapDatabaseReadTransaction) throws {
            #expect(try transaction.keys(last)["home"] ?? [] == keys)
        }
        try database.write { transaction in
            try transaction.set(Errand(title: "oat milk", priority: 2), "a")
            try transaction.set(Errand(title: "oat milk", priority: 1), "b")
            try transaction.set(Errand(title: "oat", priority: 2), "c")
            try check(["a"], transaction)
            try transaction.set(Errand(title: "oat milk", priority: 3), "b")
            try transaction.touchRow(forKey: "b", inCollection: Stage.collection)
            try transaction.set(Errand(title: "oat milk", priority: 12), "a")
        }
        try database.read { try check(["b"], $0) }
        try database.write { transaction in
            try transaction.set(Errand(title: "oat milk", priority: 4), "d")
            try? transaction.savepoint {
                try transaction.set(Errand(title: "oat milk", priority: 4), "e")
                try transaction.set(Errand(title: "tea", priority: 4), "d")
                throw Refused()
            }
            try check(["b", "d"], transaction)
            try transaction.set(Errand(title: "oat milk", priority: 5), "f")
            try transaction[stage.found].search(.words("tea"))
            try check([], transaction)
            try transaction[stage.found].search(.words("milk"))
        }
        try database.read { try check(["b", "d", "f"], $0) }
    }

    @Test func aListReportsInsertionsMovesAndUpdatesOfRowsWrittenTogether() async throws {
        let filtered = YapDatabaseFilteredView("filtered", of: stage.found, version: "1") { _, _ in true }
        let database = try stage.open()
        try database.add(filtered)
        try stage.look(for: .words("milk"), database)
        let connection = database.newConnection()
        for view in [stage.found, filtered] as [Stage.View] {
            try await connection.readWrite { try $0.removeAllObjectsInAllCollections() }
            var changes = connection.changes(of: view).makeAsyncIterator()
            _ = try await changes.next()
            func step(_ errands: [String: Errand]) async throws -> [YapDatabaseViewRowChange.Kind] {
                try await connection.readWrite { transaction in
                    for (key, errand) in errands { try transaction.set(errand, key) }
                }
                let change = try #require(try await changes.next())
                #expect(change.rowChanges.allSatisfy { $0.kind == .delete || $0.flags.contains(.object) })
                return change.rowChanges.map(\.kind)
            }
            let milk = Errand(title: "milk", priority: 5)
            #expect(try await step(["a": milk, "b": milk]) == [.insert, .insert])
            #expect(try await step(["a": milk, "b": milk]) == [.update, .update])
            #expect(try await step(["a": Errand(title: "milk", priority: 9)]) == [.move])
            #expect(try await step(["a": Errand(title: "tea")]) == [.delete])
        }
    }

    // MARK: Damage

    private func damage(_ query: [UInt8], _ database: YapDatabase) throws {
        try database.writer { core in
            try core.store.sqlite.transaction(.immediate) {
                try core.store.statement("UPDATE viewQuery_found SET query = ?1") {
                    try $0.bind(query, at: 1)
                    try $0.run()
                }
            }
        }
    }

    private static func stored(_ parts: [StoredTextQuery.Part]) throws -> [UInt8] {
        struct Query: Encodable { let parts: [StoredTextQuery.Part] }
        return try CBOREncoder().encode(Query(parts: parts))
    }

    /// Bytes that are no query, and queries that can't be run.
    private static func damaged() throws -> [[UInt8]] {
        let nested = Array(repeating: StoredTextQuery.Part(kind: .and, count: 1), count: 100_000)
        return [
            [0], [0xA0], [],
            try stored([StoredTextQuery.Part(kind: .words, text: "milk")] + nested),
            try stored([
                StoredTextQuery.Part(kind: .words, text: "milk"),
                StoredTextQuery.Part(kind: .column, text: "nowhere"),
            ]),
            try stored([StoredTextQuery.Part(kind: .expression, text: "milk AND (")]),
            try stored([StoredTextQuery.Part(kind: .words, text: "milk"), .init(kind: .or, count: .min)]),
        ]
    }

    @Test(arguments: [false, true])
    func aWriteIsNotRefusedBecauseTheStoredQueryIsDamaged(hasFollower: Bool) throws {
        let database = try stage.open()
        let follower = YapDatabaseFilteredView("follower", of: stage.found, version: "1") { _, _ in true }
        if hasFollower { try database.add(follower) }
        try database.set(["a": "milk"])
        for bytes in try Self.damaged() {
            try stage.look(for: .words("milk"), database)
            #expect(try stage.keys(database)["home"]?.contains("a") == true)
            try damage(bytes, database)
            try database.set(["b": "tea"])
            // It has what its query finds: none.
            #expect(try stage.keys(database) == [:])
            if hasFollower { #expect(try stage.keys(database, follower) == [:]) }
            #expect(try database.read { try $0[stage.found].query } == nil)
            try database.set(["b": "milk tea"])
        }
        try stage.look(for: .words("tea"), database)
        #expect(try stage.keys(database) == ["home": ["b"]])
    }

    @Test func aReadOfADamagedQueryIsAnErrorUntilTheNextSearch() throws {
        let database = try stage.open()
        try database.set(["a": "milk"])
        for bytes in try Self.damaged().prefix(5) {
            try stage.look(for: .words("milk"), database)
            try damage(bytes, database)
            #expect(code { try database.read { _ = try $0[stage.found].query } } == .corrupt)
            #expect(code { try database.read { _ = try $0[stage.found].snippet(forKey: "a") } } == .corrupt)
        }
        try stage.look(for: .words("milk"), database)
        #expect(try stage.keys(database) == ["home": ["a"]])
    }

    @Test func aViewWithADamagedQueryCanBeRegistered() throws {
        for bytes in try Self.damaged() {
            var database = try stage.open()
            try database.set(["a": "milk"])
            try stage.look(for: .words("milk"), database)
            try damage(bytes, database)
            try database.blocking.close()
            database = try stage.openWithout()
            try database.set(["b": "milk"])
            try stage.register(database)
            #expect(try stage.keys(database) == [:])
            try database.blocking.close()
        }
    }

    // MARK: Depth

    @Test func aTooDeeplyNestedQueryIsRejectedAtAnyDepth() throws {
        let database = try stage.open()
        try database.set(["a": "milk"])
        let deepest: [(Query) -> Query] = [
            { $0.in(\.title) }, { .words("milk") && ($0 || .words("none")) },
            { .words("milk").excluding(.words("tea").excluding($0)) },
            { ($0 || .words("a")) && .words("milk") },
        ]
        for (number, nest) in deepest.enumerated() {
            var query = Query.words("milk")
            for _ in 0..<100_000 { query = nest(query) }
            #expect(code { _ = try database.read { try $0[stage.search].count(query) } } == .invalidExtension)
            #expect(code { try stage.look(for: query, database) } == .invalidExtension)
            #expect(query.texts == [] || number > 0)
        }
    }

    @Test func queriesUpToTheMaximumDepthAreRun() throws {
        let database = try stage.open()
        try database.set(["a": "milk", "b": "tea"])
        let nests: [(Query) -> Query] = [
            { $0.in(\.title) }, { .words("milk") && $0 }, { .words("none") || $0 },
            { .words("milk") && ($0 || .words("none")) }, { ($0 || .words("none")) && .words("milk") },
            { .words("milk").excluding(.words("tea").excluding($0)) },
        ]
        for nest in nests {
            var query = Query.words("milk")
            while case let next = nest(query), next.depth <= Query.depthMax { query = next }
            #expect(query.depth > Query.depthMax - 4)
            #expect(try database.read { try $0[stage.search].keys(query) } == ["a"])
            try stage.look(for: query, database)
            #expect(try stage.keys(database) == ["home": ["a"]])
            #expect(try database.read { try $0[stage.found].query }?.depth == query.depth)
        }
    }

    @Test func longChainsAreNotDeep() throws {
        let database = try stage.open()
        try database.set(["a": "milk"])
        var (all, any, without) = (Query.words("milk"), Query.words("milk"), Query.words("milk"))
        for number in 0..<300 {
            all = all && .words("milk")
            any = any || .words("w\(number)")
            without = without.excluding(.words("w\(number)"))
        }
        for query in [all, any, without] {
            try stage.look(for: query, database)
            #expect(try stage.keys(database) == ["home": ["a"]])
        }
        let empty = (0..<600).reduce(all) { query, _ in query && .words("") }
        #expect(code { try stage.look(for: empty, database) } == .invalidExtension)
    }
}

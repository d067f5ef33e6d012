import SQLite
import Testing

@testable import Yap

/// `YapDatabaseSearchResultsView`: the rows of a parent view that a full-text search finds.
@Suite struct SearchResultsViewTests {
    private typealias Stage = SearchResultsStage
    private typealias Errand = SearchResultsStage.Errand

    private let stage: Stage

    init() throws { stage = try Stage() }

    private static let titles = [
        "a": "the milk", "b": "bread", "c": "the bread", "d": "tea", "e": "milk and the tea",
    ]

    // MARK: Searching

    @Test(arguments: [false, true])
    func aViewIsEmptyBeforeASearchAndHasWhatIsFoundAfterIt(isPersistent: Bool) async throws {
        let stage = try Stage(isPersistent: isPersistent)
        let database = try stage.open()
        try database.set(Self.titles)
        let (one, two) = (database.newConnection(), database.newConnection())
        func check(_ keys: [String], _ query: Stage.Query?, _ connection: YapDatabaseConnection) async throws
        {
            let (found, shown, text) = try await connection.read { [stage] transaction in
                let part = try transaction[stage.found]
                return (try transaction.keys(stage.found), try part.count(), try part.query)
            }
            #expect(found == (keys.isEmpty ? [:] : ["home": keys]))
            #expect(shown == keys.count)
            #expect(text?.texts == query?.texts)
            #expect(text.map { "\($0.node)" } == query.map { "\($0.node)" })
            var changes = connection.changes(of: stage.found, sections: .sorted).makeAsyncIterator()
            let change = try #require(try await changes.next())
            #expect(change.mappings.sections.map(\.rowCount) == (keys.isEmpty ? [] : [keys.count]))
        }
        for connection in [one, two] { try await check([], nil, connection) }
        #expect((Stage.Query.words("a") && .prefix("b").excluding(.words("c"))).texts == ["a", "b"])
        try stage.look(for: .words("the"), database)
        for connection in [one, two] { try await check(["e", "c", "a"], .words("the"), connection) }
        try stage.look(for: .prefix("brea"), database)
        for connection in [one, two] { try await check(["b", "c"], .prefix("brea"), connection) }
        try database.set(["f": "breakfast"])
        for connection in [one, two] { try await check(["b", "f", "c"], .prefix("brea"), connection) }
        try stage.look(for: nil, database)
        for connection in [one, two] { try await check([], nil, connection) }
    }

    @Test func everyFormOfAQueryFindsWhatTheSearchFinds() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        let queries: [Stage.Query] = [
            .words("the milk"), .prefix("mi"), .anyWord("tea bread"), .phrase("the tea"),
            .expression("title: milk NOT tea"), .words("milk") && .words("the") && .words("and"),
            .words("tea") || .words("bread"), .words("the").excluding(.words("milk")),
            .words("milk").in(\.title), .words("milk").in(column: "notes"), .words(""),
            (.anyWord("tea bread").in(\.title) || .words("milk")).excluding(
                .phrase("the bread") && .words("the")),
        ]
        for query in queries {
            try stage.look(for: query, database)
            try database.read { transaction in
                let part = try transaction[stage.found]
                let keys = try transaction[stage.search].keys(query)
                #expect(Set(try part.keys(in: "home")) == Set(keys))
                // The query that is read finds the same.
                #expect(try transaction[stage.search].keys(#require(try part.query)) == keys)
            }
        }
    }

    @Test func rowsThatAreFoundAgainStayWhereTheyAre() async throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .anyWord("milk bread"), database)
        let connection = database.newConnection()
        var changes = connection.changes(of: stage.found).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Errand>()
        list.apply(try #require(try await changes.next()))
        #expect(
            list.sections.map { $0.rows.map(\.title) } == [
                ["bread", "milk and the tea", "the bread", "the milk"]
            ])
        try await connection.readWrite { [stage] in try $0[stage.found].search(.words("the")) }
        let change = try #require(try await changes.next())
        list.apply(change)
        #expect(!change.isReset)
        #expect(change.rowChanges.map(\.kind) == [.delete])
        #expect(
            list.sections.map { $0.rows.map(\.title) } == [["milk and the tea", "the bread", "the milk"]])
        // Another query that finds the same is no change of the list.
        try await connection.readWrite { [stage] in try $0[stage.found].search(.prefix("th")) }
        try await connection.readWrite { [stage] in try $0[stage.found].search(.words("tea")) }
        let next = try #require(try await changes.next())
        #expect(next.rowChanges.map(\.kind).sorted { "\($0)" < "\($1)" } == [.delete, .delete, .insert])
        list.apply(next)
        #expect(list.sections.map { $0.rows.map(\.title) } == [["milk and the tea", "tea"]])
    }

    // MARK: Following

    @Test func rowsFollowEachWriteInTheSameTransaction() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        try database.write { transaction in
            try transaction.set(Errand(title: "milk", list: "work"), "d")
            #expect(try transaction.keys(stage.found) == ["home": ["e", "a"], "work": ["d"]])
            try transaction.set(Errand(title: "coffee", list: "work"), "d")
            try transaction.set(Errand(title: "the milk", priority: -1), "a")
            try transaction.set(Errand(title: "x", notes: "Milk!"), "new")
            #expect(try transaction.keys(stage.found) == ["home": ["a", "e", "new"]])
            try transaction.replaceObject(
                Errand(title: "milk and the tea", list: nil), forKey: "e", inCollection: Stage.collection)
            try transaction.removeErrand("a")
            #expect(try transaction.keys(stage.found) == ["home": ["new"]])
            try transaction.setObject(Errand(title: "milk"), forKey: "z", inCollection: "others")
        }
        #expect(try stage.keys(database) == ["home": ["new"]])
        try database.write { try $0.removeAllObjectsInAllCollections() }
        #expect(try stage.keys(database) == [:])
        try database.set(["a": "oat milk"])
        #expect(try stage.keys(database) == ["home": ["a"]])
        try database.write { try $0.removeAllObjects(inCollection: Stage.collection) }
        #expect(try stage.keys(database) == [:])
    }

    @Test func rowsThatWereThereBeforeAreFound() throws {
        let database = try stage.openWithout()
        try database.set(Self.titles)
        try stage.register(database)
        #expect(try stage.keys(database) == [:])
        try stage.look(for: .words("bread"), database)
        #expect(try stage.keys(database) == ["home": ["b", "c"]])
    }

    @Test func aTransactionThatFailsLeavesTheResultsAsTheyWere() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        #expect(throws: Refused.self) {
            try database.write { transaction in
                try transaction[stage.found].search(.words("bread"))
                try transaction.set(Errand(title: "rye bread"), "f")
                #expect(try transaction.keys(stage.found) == ["home": ["b", "f", "c"]])
                throw Refused()
            }
        }
        #expect(try stage.keys(database) == ["home": ["e", "a"]])
        try database.set(["f": "rye bread", "g": "milk"])
        #expect(try stage.keys(database) == ["home": ["g", "e", "a"]])
    }

    @Test func aSavepointThatFailsBringsBackQueryAndRows() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try database.write { transaction in
            let part = try transaction[stage.found]
            try part.search(.words("milk"))
            #expect(throws: Refused.self) {
                try transaction.savepoint {
                    try part.search(.words("bread"))
                    try transaction.set(Errand(title: "rye bread"), "f")
                    #expect(try part.count() == 3)
                    throw Refused()
                }
            }
            #expect(try transaction.keys(stage.found) == ["home": ["e", "a"]])
            try transaction.set(Errand(title: "more milk"), "g")
            try transaction.set(Errand(title: "more bread"), "h")
        }
        #expect(try stage.keys(database) == ["home": ["e", "g", "a"]])
    }

    @Test func aReaderSeesResultsAndQueryOfItsSnapshot() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        try database.read { transaction in
            let part = try transaction[stage.found]
            #expect(try part.count() == 2)
            try stage.look(for: .words("bread"), database)
            #expect(try part.keys(in: "home") == ["e", "a"])
            #expect(try "\(part.query?.node as Any)".contains("milk"))
        }
        #expect(try stage.keys(database) == ["home": ["b", "c"]])
    }

    // MARK: Mistakes

    @Test func aMistakeInAQueryChangesNothingAndTheTransactionContinues() throws {
        let database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        let mistakes: [(Stage.Query, YapDatabaseError.Code)] = [
            (.expression("\"milk"), .sqlite), (.words("milk").in(column: "none"), .invalidExtension),
            (.words("milk").in(\.priority), .invalidExtension),
            (.words(String(repeating: "milk ", count: 501)), .invalidExtension),
        ]
        try database.write { transaction in
            for (query, expected) in mistakes {
                #expect(code { try transaction[stage.found].search(query) } == expected)
            }
            try transaction.set(Errand(title: "milk"), "f")
        }
        #expect(try stage.keys(database) == ["home": ["f", "e", "a"]])
        try database.read { transaction in
            #expect(code { try transaction[stage.found].search(.words("tea")) } == .readOnlyTransaction)
        }
    }

    @Test func aParentOrSearchThatIsMissingOrAnotherIsRefused() throws {
        let database = try stage.openWithout()
        #expect(code { try database.add(stage.found) } == .extensionDependencyMissing)
        try database.add(stage.parent)
        #expect(code { try database.add(stage.found) } == .extensionDependencyMissing)
        try database.add(Stage.search(version: "2"))
        #expect(code { try database.add(stage.found) } == .invalidExtension)
        try database.blocking.unregister("text")
        try database.add(
            Stage.Search("text", of: Errand.self, in: "others", version: "1") { $0.column(\.title) })
        #expect(code { try database.add(stage.found) } == .invalidExtension)
        try database.blocking.unregister("text")
        try database.add(
            Stage.Auto("text", of: Errand.self, in: Stage.collection, version: "1") { $0.list })
        #expect(code { try database.add(stage.found) } == .invalidExtension)
        try database.blocking.unregister("text")
        try database.add(stage.search)
        try database.add(stage.found)
        let other = Stage.Found("other", of: Stage.parent(version: "2"), matching: stage.search)
        #expect(code { try database.add(other) } == .invalidExtension)
        let ofOthers = Stage.Search("others", of: Errand.self, in: "others", version: "1") {
            $0.column(\.title)
        }
        try database.add(ofOthers)
        let mixed = Stage.Found("mixed", of: stage.parent, matching: ofOthers)
        #expect(code { try database.add(mixed) } == .invalidExtension)
    }

    @Test(arguments: ["text", "all"])
    func unregisteringTheSearchOrTheParentUnregistersTheView(name: String) throws {
        let database = try stage.open()
        try stage.look(for: .words("milk"), database)
        try database.blocking.unregister(name)
        #expect(code { _ = try stage.keys(database) } == .extensionNotRegistered)
        try database.set(Self.titles)
        let names = database.registeredExtensionNames
        if !names.contains("all") { try database.add(stage.parent) }
        if !names.contains("text") { try database.add(stage.search) }
        try database.add(stage.found)
        #expect(try stage.keys(database) == [:])
    }

    @Test(arguments: ["it's \"quoted\"", "a;b--", "é日本", "x y"])
    func anyNameCanBeUsed(name: String) throws {
        let stage = try Stage(isPersistent: true, name: name)
        var database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        try database.blocking.close()
        database = try stage.open()
        #expect(try stage.keys(database) == ["home": ["e", "a"]])
        try database.blocking.unregister(name)
        let tables = try database.write { transaction in
            try transaction.sqlite.withStatement(
                "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'view%' AND instr(name, ?1)"
            ) { statement in
                try statement.bind(name, at: 1)
                return try statement.step() ? statement.int64(at: 0) : -1
            }
        }
        #expect(tables == 0)
    }

    // MARK: Restarts

    @Test func aViewThatIsNotPersistentIsEmptyAfterARestart() throws {
        var database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk"), database)
        try database.blocking.close()
        database = try stage.open()
        #expect(try stage.keys(database) == [:])
        #expect(try database.read { try $0[stage.found].query } == nil)
        try database.set(["f": "milk"])
        #expect(try stage.keys(database) == [:])
    }

    @Test func aPersistentViewKeepsQueryAndRowsAndFindsWhatWasWrittenWithoutIt() throws {
        let stage = try Stage(isPersistent: true)
        var database = try stage.open()
        try database.set(Self.titles)
        try stage.look(for: .words("milk").in(\.title), database)
        try database.blocking.close()

        database = try stage.open()
        #expect(try stage.keys(database) == ["home": ["e", "a"]])
        try database.set(["f": "milk"])
        #expect(try stage.keys(database) == ["home": ["f", "e", "a"]])
        try database.blocking.close()

        database = try stage.openWithout()
        try database.set(["a": "tea", "b": "milk"])
        try database.write { try $0.removeErrand("e") }
        try stage.register(database)
        #expect(try stage.keys(database) == ["home": ["b", "f"]])
        try database.blocking.close()

        let changed = Stage.search(version: "2")
        database = try stage.openWithout()
        let found = Stage.Found("found", of: stage.parent, matching: changed, isPersistent: true)
        try database.add(stage.parent)
        try database.add(changed)
        try database.add(found)
        #expect(try stage.keys(database, found) == [:])
        #expect(try database.read { try $0[found].query } == nil)
    }

    @Test func anotherInstanceSeesTheSearchAndEmptiesTheViewWhenItRegisters() throws {
        let first = try stage.open()
        try first.set(Self.titles)
        try stage.look(for: .words("milk"), first)
        let second = try stage.open()
        for database in [first, second] {
            #expect(try stage.keys(database) == [:])
            #expect(try database.read { try $0[stage.found].query } == nil)
        }
        try stage.look(for: .words("bread"), second)
        try first.set(["f": "bread", "b": "-"])
        for database in [first, second] { #expect(try stage.keys(database) == ["home": ["f", "c"]]) }
    }

    @Test func aViewIsNotReadAfterAnotherInstanceWroteWithoutIt() throws {
        let stage = try Stage(isPersistent: true)
        let first = try stage.open()
        try first.set(Self.titles)
        try stage.look(for: .words("milk"), first)
        let second = try stage.openWithout()
        try second.set(["f": "milk", "a": "-"])
        #expect(code { _ = try stage.keys(first) } == .extensionNotRegistered)
        // Writes go on.
        try first.set(["g": "milk"])
        try first.blocking.close()
        try second.blocking.close()
        #expect(try stage.keys(stage.open()) == ["home": ["f", "g", "e"]])
    }

    @Test func aQueryThatCanNotBeReadIsAnError() throws {
        let database = try stage.open()
        try stage.look(for: .words("milk"), database)
        for bytes in ["x'00'", "x'a0'", "x'a165706172747380'"] {
            try database.write { try $0.sqlite.execute("UPDATE viewQuery_found SET query = \(bytes)") }
            #expect(
                code { try database.read { _ = try $0[stage.found].query } }
                    == .corrupt)
        }
        try stage.look(for: .words("tea"), database)
        try database.set(Self.titles)
        #expect(try stage.keys(database) == ["home": ["e", "d"]])
    }
}

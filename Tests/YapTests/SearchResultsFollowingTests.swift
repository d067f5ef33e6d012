import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// Excerpts, observations, parents of each kind and views of views of search results.
@Suite struct SearchResultsFollowingTests {
    private typealias Stage = SearchResultsStage
    private typealias Errand = SearchResultsStage.Errand

    private let stage: Stage

    init() throws { stage = try Stage() }

    // MARK: Excerpts

    @Test func excerptsAreThoseOfTheQueryOfNow() throws {
        let database = try stage.open()
        try database.set(["a": "the milk", "b": "tea"])
        try stage.look(for: .words("milk"), database)
        let connection = database.newConnection()
        func excerpt(_ key: String) throws -> YapDatabaseTextExcerpt? {
            try connection.blocking.read { try $0[stage.found].snippet(forKey: key, .whole(\.title)) }
        }
        #expect(try excerpt("a")?.matches == ["milk"])
        #expect(try excerpt("b") == nil)
        #expect(try excerpt("none") == nil)
        try stage.look(for: .words("the"), database)
        #expect(try excerpt("a")?.matches == ["the"])
        try database.set(["a": "the end"])
        #expect(try excerpt("a")?.text == "the end")
        try stage.look(for: nil, database)
        #expect(try excerpt("a") == nil)
        try database.write { transaction in
            try transaction[stage.found].search(.words("end"))
            #expect(try transaction[stage.found].snippet(forKey: "a")?.matches == ["end"])
        }
    }

    @Test func partsOfWordsAreFoundAndShown() throws {
        let search = Stage.search(tokenizer: .trigram)
        let found = Stage.Found("found", of: stage.parent, matching: search)
        let database = try stage.openWithout()
        try database.add(stage.parent)
        try database.add(search)
        try database.add(found)
        try database.set(["a": "buttermilk", "b": "bread"])
        // Words of one or two characters are looked for in all texts.
        for (query, matches) in [("milk", ["milk"]), ("mi", ["mi"])] {
            try database.write { try $0[found].search(.words(query)) }
            #expect(try stage.keys(database, found) == ["home": ["a"]])
            let excerpt = try database.read {
                try $0[found].snippet(forKey: "a", .of(\.title))
            }
            #expect(excerpt?.matches.map(String.init) == matches)
            try database.set(["c": "milky"])
            #expect(try stage.keys(database, found) == ["home": ["a", "c"]])
            try database.set(["c": "-"])
            #expect(try stage.keys(database, found) == ["home": ["a"]])
        }
    }

    // MARK: Observing

    @Test func theQueryIsObservedAloneAndAnExcerptWithItsRow() throws {
        let database = try stage.open()
        try database.set(["a": "milk", "b": "milk tea", "c": "bread"])
        try stage.look(for: .words("milk"), database)
        let connection = database.newConnection()
        let readQuery = { (transaction: YapDatabaseReadTransaction) in _ = try transaction[stage.found].query
        }
        let readExcerpt = { (transaction: YapDatabaseReadTransaction) in
            _ = try transaction[stage.found].snippet(forKey: "a")
        }
        let readRows = { (transaction: YapDatabaseReadTransaction) in
            _ = try transaction[stage.found].keys(in: "home")
        }
        func set(_ title: String, _ key: String) -> (YapDatabaseReadWriteTransaction) throws -> Void {
            { try $0.set(Errand(title: title), key) }
        }
        #expect(try !connection.isObserved(readQuery, whenWriting: set("milk", "b")))
        #expect(try !connection.isObserved(readExcerpt, whenWriting: set("milk 2", "b")))
        #expect(try connection.isObserved(readExcerpt, whenWriting: set("milk 2", "a")))
        #expect(try !connection.isObserved(readRows, whenWriting: set("bread 2", "c")))
        #expect(try connection.isObserved(readRows, whenWriting: set("milk 3", "c")))
        // Other rows, and the same rows by another query.
        for query in [
            Stage.Query.words("milk").excluding(.words("3")), .prefix("mil").excluding(.words("3")),
        ] {
            #expect(try connection.isObserved(readQuery) { try $0[stage.found].search(query) })
            #expect(try connection.isObserved(readExcerpt) { try $0[stage.found].search(query) })
        }
        #expect(try connection.isObserved(readRows) { try $0[stage.found].search(.words("milk")) })
        #expect(try !connection.isObserved(readRows) { try $0[stage.found].search(.prefix("mil")) })
    }

    // MARK: Parents and views of it

    @Test func aManualParentIsFollowedWithoutAWriteOfARow() throws {
        let board = YapDatabaseManualView(
            "board", of: Errand.self, in: Stage.collection, groups: String.self, version: "1")
        let found = Stage.Found("found", of: board, matching: stage.search)
        let database = try stage.openWithout()
        try database.set(["a": "milk", "b": "milk", "c": "milk", "d": "tea"])
        try database.add(board)
        try database.add(stage.search)
        try database.add(found)
        try database.write { transaction in
            for key in ["d", "b", "a"] { try transaction[board].append(key, to: "x") }
            try transaction[found].search(.words("milk"))
            #expect(try transaction.keys(found) == ["x": ["b", "a"]])
            try transaction[board].append("c", to: "y")
            try transaction[board].move("a", to: 0, in: "x")
            try transaction[board].remove("b")
        }
        #expect(try stage.keys(database, found) == ["x": ["a"], "y": ["c"]])
        // Keys are made anew where there is no room between two rows.
        try database.write { transaction in
            for number in 0..<200 {
                try transaction.set(Errand(title: "milk"), "n\(number)")
                try transaction[board].insert("n\(number)", at: 1, in: "x")
            }
            #expect(
                try transaction.keys(found) == transaction.keys(board).mapValues { $0.filter { $0 != "d" } })
        }
    }

    @Test func viewsOfAViewOfSearchResultsFollowASearch() throws {
        let urgent = YapDatabaseFilteredView("urgent", of: stage.found, version: "1") { $1.priority > 0 }
        let tea = Stage.Found("tea", of: urgent, matching: stage.search)
        let database = try stage.open()
        try database.add(urgent)
        try database.add(tea)
        try database.write { transaction in
            for (number, title) in ["milk", "milk tea", "tea", "bread", "milk tea"].enumerated() {
                try transaction.set(Errand(title: title, priority: number), "\(number)")
            }
            try transaction[tea].search(.words("tea"))
            #expect(try transaction.keys(tea) == [:])
            try transaction[stage.found].search(.words("milk"))
            #expect(try transaction.keys(urgent) == ["home": ["1", "4"]])
            #expect(try transaction.keys(tea) == ["home": ["1", "4"]])
        }
        try stage.look(for: .anyWord("tea bread"), database)
        #expect(try stage.keys(database, urgent) == ["home": ["1", "2", "3", "4"]])
        #expect(try stage.keys(database, tea) == ["home": ["1", "2", "4"]])
        try database.write { try $0.set(Errand(title: "water", priority: 1), "1") }
        #expect(try stage.keys(database, tea) == ["home": ["2", "4"]])
        try stage.look(for: nil, database)
        #expect(try stage.keys(database, tea) == [:])
    }

    // MARK: Cost

    /// How many rows of tables each of four searches writes, of a number of rows of which half are found.
    private func writes(rows: Int) throws -> [Int] {
        let stage = try Stage()
        let database = try stage.open()
        try database.write { transaction in
            for number in 0..<rows {
                try transaction.set(Errand(title: number % 2 == 0 ? "milk" : "tea \(number)"), "\(number)")
            }
        }
        return try [Stage.Query.words("milk"), .prefix("mil"), .words("tea"), nil].map { query in
            try database.write { transaction in
                let before = transaction.sqlite.totalChangesCount
                try transaction[stage.found].search(query)
                #expect(try transaction[stage.found].count() == (query == nil ? 0 : rows / 2))
                return transaction.sqlite.totalChangesCount - before
            }
        }
    }

    @Test func aSearchWritesTheRowsThatEnterAndLeave() throws {
        let (few, many) = (try writes(rows: 100), try writes(rows: 400))
        for (few, many) in zip(few, many) { #expect(many <= few * 4 + 20) }
        // Another query that finds the same rows replaces the query alone.
        #expect(many[1] == 1)
    }

    @Test(arguments: [false, true])
    func moreRowsThanACommitNamesAreEmptiedAtOnce(hasFollower: Bool) throws {
        let stage = try Stage()
        let urgent = YapDatabaseFilteredView("urgent", of: stage.found, version: "1") { $1.priority == 0 }
        var options = YapDatabaseOptions()
        options.changedKeysPerCommitMax = 20
        let database = try stage.openWithout(options)
        try stage.register(database)
        if hasFollower { try database.add(urgent) }
        try database.set(Dictionary(uniqueKeysWithValues: (0..<50).map { ("\($0)", "milk") }))
        try stage.look(for: .words("milk"), database)
        #expect(try stage.keys(database)["home"]?.count == 50)
        try stage.look(for: nil, database)
        #expect(try stage.keys(database) == [:])
        try stage.look(for: .words("milk"), database)
        try database.write { transaction in
            try transaction[stage.found].search(.words("tea"))
            try transaction.set(Errand(title: "tea"), "1")
            #expect(try transaction.keys(stage.found) == ["home": ["1"]])
        }
        #expect(try stage.keys(database) == ["home": ["1"]])
        if hasFollower { #expect(try stage.keys(database, urgent) == ["home": ["1"]]) }
    }

    // MARK: At random

    /// Drawn writes and searches against the search's own result, filtered by the parent.
    @Test(arguments: TestSeed.values(count: 5))
    func theViewHasTheParentsRowsThatTheSearchFinds(seed: UInt64) async throws {
        let random = SeededRandomSource(seed: seed)
        let stage = try Stage(isPersistent: true)
        let urgent = YapDatabaseFilteredView("urgent", of: stage.found, version: "1") { $1.priority > 4 }
        var query: Stage.Query?
        func compare(_ transaction: YapDatabaseReadTransaction) throws {
            let keys = Set(try query.map { try transaction[stage.search].keys($0) } ?? [])
            for group in ["home", "work"] {
                let expected = try transaction[stage.parent].rows(in: group).filter { keys.contains($0.key) }
                #expect(try transaction[stage.found].keys(in: group) == expected.map(\.key))
                #expect(try transaction[stage.found].count(in: group) == expected.count)
                #expect(
                    try transaction[urgent].keys(in: group)
                        == expected.filter { $0.object.priority > 4 }.map(\.key))
            }
        }
        var database = try stage.open()
        try database.add(urgent)
        var changes = database.newConnection().changes(of: stage.found).makeAsyncIterator()
        var list = YapDatabaseViewSections<String, Errand>()
        list.apply(try #require(try await changes.next()))
        var shown = [[Errand]]()
        for _ in 0..<30 {
            let fails = random.next(in: 0..<6) == 0
            let before = query
            try database.write { transaction in
                for _ in 0...random.next(in: 0..<6) { try Self.draw(random, transaction, stage, &query) }
                try compare(transaction)
                if fails { transaction.rollback() }
            }
            if fails { query = before }
            let now = try database.read { transaction in
                try compare(transaction)
                let part = try transaction[stage.found]
                return try part.groups().map { try part.rows(in: $0).map(\.object) }
            }
            if now != shown {
                list.apply(try #require(try await changes.next()))
                while list.sections.map(\.rows) != now { list.apply(try #require(try await changes.next())) }
            }
            shown = now
            if random.next(in: 0..<10) == 0 {
                try await database.close()
                database = try stage.open()
                try database.add(urgent)
                changes = database.newConnection().changes(of: stage.found).makeAsyncIterator()
                list.apply(try #require(try await changes.next()))
            }
        }
    }

    private static let words = ["milk", "milky", "tea", "bread", "the"]

    private static func draw(
        _ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction, _ stage: Stage,
        _ query: inout Stage.Query?
    ) throws {
        let key = "k\(random.next(in: 0..<30))"
        func word() -> String { words[random.next(in: 0..<words.count)] }
        let errand = Errand(
            title: "\(word()) \(word())", notes: random.next(in: 0..<2) == 0 ? word() : nil,
            list: ["home", "work", nil][random.next(in: 0..<3)], priority: random.next(in: 0..<10))
        switch random.next(in: 0..<40) {
        case 0: try transaction.removeAllObjectsInAllCollections()
        case 1: try transaction.removeAllObjects(inCollection: Stage.collection)
        case 2...5: try transaction.removeErrand(key)
        case 6...8: try transaction.replaceObject(errand, forKey: key, inCollection: Stage.collection)
        case 9: try transaction.touchRow(forKey: key, inCollection: Stage.collection)
        case 10...16:
            query =
                switch random.next(in: 0..<6) {
                case 0: nil
                case 1: .words(word())
                case 2: .prefix(String(word().prefix(2)))
                case 3: .anyWord("\(word()) \(word())")
                case 4: .words(word()).excluding(.words(word()).in(\.notes))
                default: .phrase("\(word()) \(word())") || .words(word()).in(\.notes)
                }
            try transaction[stage.found].search(query)
        case 17, 18:
            let before = query
            do {
                try transaction.savepoint {
                    for _ in 0..<3 { try draw(random, transaction, stage, &query) }
                    throw Refused()
                }
            } catch is Refused { query = before }
        default: try transaction.set(errand, key)
        }
    }
}

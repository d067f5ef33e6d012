import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// How a full-text search follows writes, registrations and runs of the program.
@Suite struct FullTextWritingTests {
    private typealias Page = FullTextSearchStage.Page
    private typealias Search = FullTextSearchStage.Search
    private let stage: FullTextSearchStage

    init() throws {
        stage = try FullTextSearchStage()
    }

    @Test func theSearchFollowsEachWriteInTheSameTransaction() throws {
        try stage.set(["a": "milk", "b": "bread"])
        try stage.write { transaction in
            let search = try transaction[stage.search]
            try transaction.set(Page(title: "milk rolls"), "c")
            #expect(try search.count(.words("milk")) == 2)
            try transaction.replaceObject(Page(title: "tea"), forKey: "a", inCollection: "pages")
            #expect(try search.keys(.words("milk")) == ["c"])
            try transaction.removeObject(forKey: "c", inCollection: "pages")
            #expect(try search.keys(.words("milk")) == [])
            try transaction.set(Page(title: ""), "b")
            #expect(try search.keys(.words("bread")) == [])
            try transaction.set(Page(title: "", tags: ["bread"]), "b")
            #expect(try search.keys(.words("bread")) == ["b"])
        }
        #expect(try stage.keys(.anyWord("milk tea bread")) == ["a", "b"])
        try stage.write { try $0.removeAllObjects(inCollection: "pages") }
        #expect(try stage.keys(.anyWord("milk tea bread")) == [])
        try stage.set(["a": "milk"])
        try stage.write { try $0.removeAllObjectsInAllCollections() }
        #expect(try stage.keys(.words("milk")) == [])
        try checkIntegrity()
    }

    /// The search keeps new words in memory until SQLite makes it write them: also before a statement of another
    /// extension that inserts several rows.
    @Test func theFirstTransactionOfARunWritesWordsAndOtherExtensionsFollowIt() throws {
        try stage.set(["a": "milk"])
        for key in ["b", "c"] {
            try stage.database.blocking.close()
            let database = try FullTextSearchStage.open(stage.folder)
            let undo = YapDatabaseUndo("undo", in: ["pages"])
            let graph = YapDatabaseRelationship("graph", version: "1", in: ["pages"]) {
                $0.edge("title", \Page.title, in: "pages", to: "pages")
            }
            try database.blocking.register(FullTextSearchStage.search())
            try database.blocking.register(undo)
            try database.blocking.register(graph)
            try database.newConnection().blocking.readWrite { transaction in
                try transaction[undo].group("replace") {
                    try transaction.set(Page(title: key), key)
                    if key == "b" { try transaction.removeAllObjects(inCollection: "pages") }
                    try transaction.set(Page(title: "bread"), key)
                    try transaction.removeObject(forKey: key, inCollection: "pages")
                    try transaction.set(Page(title: "bread"), "d")
                }
            }
            let keys = try database.newConnection().blocking.read {
                try $0[stage.search].keys(.words("bread"))
            }
            #expect(keys == ["d"])
            try database.blocking.close()
        }
    }

    @Test func aTransactionThatFailsLeavesNoTraceInTheSearch() throws {
        try stage.set(["a": "milk"])
        #expect(throws: Refused.self) {
            try stage.write { transaction in
                try transaction.set(Page(title: "bread"), "a")
                try transaction.set(Page(title: "bread"), "b")
                #expect(try transaction[stage.search].count(.words("bread")) == 2)
                throw Refused()
            }
        }
        #expect(try stage.keys(.words("bread")) == [])
        #expect(try stage.keys(.words("milk")) == ["a"])
        try checkIntegrity()
    }

    @Test func aWriteThatChangesNoTextWritesNothingIntoTheSearch() throws {
        func writes(_ page: Page) throws -> Int {
            try stage.connection.blocking.readWrite { transaction in
                let before = transaction.sqlite.totalChangesCount
                try transaction.set(page, "a")
                return transaction.sqlite.totalChangesCount - before
            }
        }
        try stage.set(["a": "milk"])
        #expect(try writes(Page(title: "", body: "milk", isHidden: true)) == 1)
        // Equal to Swift, other bytes.
        #expect(try writes(Page(title: "", body: "caf\u{E9}")) > 1)
        #expect(try writes(Page(title: "", body: "cafe\u{301}")) > 1)
        #expect(try writes(Page(title: "", body: "cafe\u{301}")) == 1)
    }

    @Test func onlyIncludedObjectsAreFound() throws {
        let shown = Search("shown", of: Page.self, in: "pages", version: "1", including: { !$0.isHidden }) {
            $0.column("both") { page in page.body.map { "\(page.title) \($0)" } }
        }
        try stage.set(["a": "milk", "b": "milk"])
        try stage.write { try $0.set(Page(title: "milk", body: "x", isHidden: true), "a") }
        try stage.write { try $0.set(Page(title: "milk"), "c") }
        try stage.database.blocking.register(shown)
        #expect(try stage.connection.blocking.read { try $0[shown].keys(.words("milk")) } == ["b"])
        try stage.write { try $0.set(Page(title: "milk", body: "x"), "a") }
        try stage.write { try $0.set(Page(title: "", body: "milk", isHidden: true), "b") }
        #expect(try stage.connection.blocking.read { try $0[shown].keys(.words("milk")) } == ["a"])
        #expect(
            try stage.connection.blocking.read { try $0[shown].keys(.phrase("milk x").in(column: "both")) }
                == ["a"])
    }

    @Test func aSearchIsFilledAgainWhenItsDescriptionChanges() throws {
        try stage.set(["a": "milk", "b": "milk"])
        try stage.write { try $0.sqlite.execute("DELETE FROM fullText_text WHERE rowid = 1") }
        try stage.database.blocking.close()
        func count(_ search: Search) throws -> Int {
            let database = try FullTextSearchStage.open(stage.folder)
            defer { try? database.blocking.close() }
            try database.blocking.register(search)
            return try database.newConnection().blocking.read { try $0[search].count(.expression("milk")) }
        }
        // Reopened as it was, without a row that was removed behind its back.
        #expect(try count(FullTextSearchStage.search()) == 1)
        let heavier = Search("text", of: Page.self, in: "pages", version: "1") {
            $0.column(\.title); $0.column(\.body, weight: 9); $0.column(\.tags)
        }
        #expect(try count(heavier) == 1)
        func losesARow() throws {
            let database = try FullTextSearchStage.open(stage.folder)
            defer { try? database.blocking.close() }
            try database.newConnection().blocking.readWrite {
                try $0.sqlite.execute("DELETE FROM fullText_text WHERE rowid = 1")
            }
        }
        let others = [
            FullTextSearchStage.search(version: "2"), FullTextSearchStage.search(version: "2", prefix: [2]),
            FullTextSearchStage.search(version: "2", tokenizer: .porter),
            FullTextSearchStage.search(version: "2", tokenizer: .trigram),
            Search("text", of: Page.self, in: "pages", version: "2") { $0.column(\.body) },
        ]
        for other in others {
            #expect(try count(other) == 2)
            try losesARow()
        }
        // What was written without it is added, and nothing else.
        let without = try FullTextSearchStage.open(stage.folder)
        try without.newConnection().blocking.readWrite { try $0.set(Page(title: "", body: "milk"), "c") }
        try without.blocking.close()
        #expect(try count(others[4]) == 2)
    }

    @Test func mistakesInADescriptionOfASearchAreErrors() throws {
        typealias Columns = YapDatabaseTextColumns<Page>
        func registering(
            prefix: [Int] = [], tokenizer: YapDatabaseTextTokenizer = .unicode,
            _ describe: (inout Columns) -> Void = { $0.column(\.title) }
        ) -> YapDatabaseError.Code? {
            let wrong = Search(
                "wrong", of: Page.self, in: "pages", version: "1", tokenizer: tokenizer, prefix: prefix,
                describe)
            return code { try stage.database.blocking.register(wrong) }
        }
        #expect(registering { _ in } == .invalidExtension)
        #expect(
            registering {
                $0.column(\.title); $0.column(\.title, "x")
            } == .invalidExtension)
        #expect(
            registering {
                $0.column(\.title, "x"); $0.column(\.body, "X")
            } == .invalidExtension)
        for name in ["rank", "rowid", "a b", "", "a\"", "é"] {
            #expect(registering { $0.column(\.title, name) } == .invalidExtension, "\(name)")
        }
        #expect(registering { $0.column(\.title, weight: -1) } == .invalidExtension)
        #expect(registering { $0.column(\.title, weight: .nan) } == .invalidExtension)
        #expect(registering(prefix: [0]) == .invalidExtension)
        #expect(registering(prefix: Array(1...40)) == .invalidExtension)
        #expect(registering(prefix: [2], tokenizer: .trigram) == .invalidExtension)
        for (collection, expected) in [
            ("todos", YapDatabaseError.Code.typeMismatch), ("page", .missingRegistration),
        ] {
            let wrong = Search("wrong", of: Page.self, in: collection, version: "1") { $0.column(\.title) }
            #expect(code { try stage.database.blocking.register(wrong) } == expected)
        }
        // The name of a table that FTS5 creates for "text".
        for name in ["text_data", "TEXT_idx"] {
            let wrong = Search(name, of: Page.self, in: "pages", version: "1") { $0.column(\.title) }
            #expect(code { try stage.database.blocking.register(wrong) } == .invalidExtension)
        }
        let quoted = Search("it's \"a\"", of: Page.self, in: "pages", version: "1") { $0.column(\.body) }
        try stage.set(["a": "milk"])
        try stage.database.blocking.register(quoted)
        let hits = try stage.connection.blocking.read {
            try $0[quoted].matches(.words("milk").in(\.body), snippet: .of(\.body))
        }
        #expect(hits.map(\.snippet?.matches) == [["milk"]])
        try stage.database.blocking.unregister(quoted.name)
        #expect(try stage.keys(.words("milk")) == ["a"])
    }

    @Test func anObservedSearchDependsOnItsTextsAndItsMatchesOnTheirObjectsToo() throws {
        try stage.set(["a": "milk"])
        let search = stage.search
        let matches = try reads { _ = try $0[search].matches(.prefix("mi"), snippet: .of(\.body)) }
        let counts = try reads {
            _ = try $0[search].count(.words("milk"))
            _ = try $0[search].keys(.words("milk"))
        }
        let seen = CommitList()
        let id = stage.database.addInlineCommitObserver { seen.add($0) }
        defer { stage.database.removeCommitObserver(id) }
        func areChanged(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> [Bool] {
            try stage.write(body)
            let commit = try #require(seen.commits.last)
            return [matches.areChanged(by: commit), counts.areChanged(by: commit)]
        }
        #expect(try areChanged { try $0.set(Page(title: "", body: "x"), "b") } == [true, true])
        #expect(
            try areChanged { try $0.set(Page(title: "", body: "x", isHidden: true), "b") } == [true, false])
        #expect(try areChanged { try $0.set("buy", "1") } == [false, false])
        #expect(
            try areChanged { transaction in
                try? transaction.savepoint {
                    try transaction.removeObject(forKey: "b", inCollection: "pages")
                    throw CancellationError()
                }
                try transaction.set("buy", "2")
            } == [false, false])
        #expect(try areChanged { try $0.removeObject(forKey: "b", inCollection: "pages") } == [true, true])
        #expect(
            try areChanged { try $0.removeAllObjectsInAllCollections() } == [true, true])
    }

    private func reads(_ body: (YapDatabaseReadTransaction) throws -> Void) throws -> ReadDependencies {
        try #require(try stage.connection.readNow(tracksReads: true, body).reads)
    }

    /// Words are ASCII, so that a naive search knows what is found.
    @Test(arguments: TestSeed.values(count: 6)) func randomWritesAreFoundAsByANaiveSearch(seed: UInt64) throws
    {
        let random = SeededRandomSource(seed: seed)
        let words = ["milk", "mild", "bread", "breadth", "red", "rye", "roll", "ro", "a"]
        func text() -> String {
            (0..<random.next(in: 0..<5)).map { _ in words[random.next(in: 0..<words.count)] }
                .joined(separator: [" ", ", ", "\n"][random.next(in: 0..<3)])
        }
        var pages: [String: Page] = [:]
        for step in 0..<60 {
            let before = pages
            do {
                try stage.write { transaction in
                    for _ in 0..<random.next(in: 1..<6) {
                        let key = "\(random.next(in: 0..<12))"
                        switch random.next(in: 0..<20) {
                        case 0..<5:
                            pages[key] = nil
                            try transaction.removeObject(forKey: key, inCollection: "pages")
                        case 5:
                            pages = [:]
                            try transaction.removeAllObjects(inCollection: "pages")
                        default:
                            let page = Page(
                                title: text(), body: random.next(in: 0..<3) == 0 ? nil : text(),
                                tags: [text()])
                            pages[key] = page
                            try transaction.set(page, key)
                        }
                    }
                    if random.next(in: 0..<6) == 0 { throw Refused() }
                }
            } catch is Refused {
                pages = before
            }
            let wanted = [words[random.next(in: 0..<words.count)], words[random.next(in: 0..<words.count)]]
            try compare(pages, wanted, "seed \(seed), step \(step)")
        }
        try checkIntegrity()
    }

    private func compare(_ pages: [String: Page], _ wanted: [String], _ comment: Comment) throws {
        func words(_ page: Page) -> [Substring] {
            ([page.title, page.body ?? ""] + page.tags).flatMap { $0.split { !$0.isLetter } }
        }
        func naive(_ isFound: ([Substring]) -> Bool) -> [String] {
            pages.filter { isFound(words($0.value)) }.keys.sorted()
        }
        func has(_ page: [Substring], _ word: String) -> Bool { page.contains(Substring(word)) }
        let text = wanted.joined(separator: " ")
        let (first, last) = (wanted[0], wanted[1])
        #expect(try stage.keys(.words(text)) == naive { has($0, first) && has($0, last) }, comment)
        #expect(try stage.keys(.anyWord(text)) == naive { has($0, first) || has($0, last) }, comment)
        #expect(
            try stage.keys(.prefix(text))
                == naive { page in has(page, first) && page.contains { $0.hasPrefix(last) } }, comment)
        #expect(
            try stage.keys(.words(first).excluding(.words(last)))
                == naive { has($0, first) && !has($0, last) }, comment)
        #expect(
            try stage.keys(.words(first).in(\.title))
                == pages.filter { $0.value.title.split { !$0.isLetter }.contains(Substring(first)) }.keys
                .sorted(), comment)
        #expect(try stage.read { try $0.count(.words(first)) } == naive { has($0, first) }.count, comment)
        for match in try stage.read({ try $0.matches(.words(first), snippet: .ofBestColumn()) }) {
            #expect(match.snippet?.matches.allSatisfy { $0 == first } == true, comment)
            #expect(match.snippet?.matches.isEmpty == false && match.object == pages[match.key], comment)
        }
    }

    /// FTS5 compares its index with the texts.
    private func checkIntegrity() throws {
        try stage.write {
            try $0.sqlite.execute(
                "INSERT INTO fullText_text(fullText_text, rank) VALUES ('integrity-check', 0)")
        }
    }
}

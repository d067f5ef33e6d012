import SQLite
import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// `YapDatabaseFullTextSearch`: the rows that it finds, and how it follows writes.
@Suite struct FullTextSearchTests {
    private typealias Page = FullTextSearchStage.Page
    private typealias Query = FullTextSearchStage.Query
    private let stage: FullTextSearchStage

    init() throws {
        stage = try FullTextSearchStage()
    }

    /// The original's test of FTS5.
    @Test func termsAreCountedBeforeAndAfterAnUpdate() throws {
        try stage.set([
            "0": "hello world", "1": "hello coffee shop", "2": "hello laptop", "3": "hello work",
        ])
        #expect(try stage.read { try $0.count(.words("hello")) } == 4)
        #expect(try stage.read { try $0.count(.words("coffee")) } == 1)
        #expect(try stage.read { try $0.count(.anyWord("coffee laptop")) } == 2)
        #expect(try stage.read { try $0.count(.prefix("wor")) } == 2)
        #expect(try stage.read { try $0.count(.expression("wor*")) } == 2)
        #expect(try stage.read { try $0.count(.words("hello work coffee")) } == 0)
        try stage.set(["0": "hello sunshine", "3": "hello play"])
        #expect(try stage.read { try $0.count(.words("hello")) } == 4)
        #expect(try stage.read { try $0.count(.words("coffee")) } == 1)
        #expect(try stage.read { try $0.count(.anyWord("sunshine shine")) } == 1)
        #expect(try stage.read { try $0.count(.prefix("wor")) } == 0)
    }

    @Test func queriesAreCombined() throws {
        try stage.set(["a": "milk and bread", "b": "bread, then milk", "c": "milk", "d": "rye bread rolls"])
        #expect(try stage.keys(.words("bread milk")) == ["a", "b"])
        #expect(try stage.keys(.phrase("bread then")) == ["b"])
        #expect(try stage.keys(.prefix("milk bre")) == ["a", "b"])
        #expect(try stage.keys(.prefix("bre milk")) == [])
        #expect(try stage.keys(.words("bread").excluding(.words("milk"))) == ["d"])
        #expect(try stage.keys(.words("rolls") || .phrase("milk and") || .words("then")) == ["a", "b", "d"])
        #expect(try stage.keys((.words("rolls") || .words("milk")) && .words("bread")) == ["a", "b", "d"])
        #expect(try stage.keys(.expression("milk NOT bread")) == ["c"])
        #expect(try stage.keys(.words("bread") && .expression("rolls OR and")) == ["a", "d"])
        #expect(try stage.keys(.words("***").excluding(.words("milk"))) == [])
        #expect(try stage.keys(.words("milk").excluding(.words("***"))) == ["a", "b", "c"])
    }

    @Test func aQueryIsLimitedToAColumn() throws {
        try stage.write { transaction in
            try transaction.set(Page(title: "milk", body: "bread"), "a")
            try transaction.set(Page(title: "bread", body: "milk", tags: ["red wine", "blue cheese"]), "b")
        }
        #expect(try stage.keys(.words("milk").in(\.title)) == ["a"])
        #expect(try stage.keys(.words("milk").in(column: "BODY")) == ["b"])
        #expect(try stage.keys(.words("milk").in(\.title) && .words("bread").in(\.body)) == ["a"])
        #expect(try stage.keys(.words("milk bread").in(\.title)) == [])
        #expect(try stage.keys(.words("milk").in(\.title).in(\.body)) == [])
        #expect(try stage.keys(.words("blue red")) == ["b"])
        #expect(code { _ = try stage.keys(.words("milk").in(\.isHidden)) } == .invalidExtension)
        #expect(code { _ = try stage.keys(.words("milk").in(column: "none")) } == .invalidExtension)
    }

    @Test func weightsDecideTheOrder() throws {
        try stage.write { transaction in
            try transaction.set(Page(title: "other", body: "milk"), "a")
            try transaction.set(Page(title: "milk", body: "other"), "b")
            try transaction.set(Page(title: "none", body: "none"), "c")
            try transaction.set(Page(title: "none", body: "none"), "d")
            try transaction.set(Page(title: "none", body: "none"), "e")
        }
        let matches = try stage.read { try $0.matches(.words("milk")) }
        #expect(matches.map(\.key) == ["b", "a"])
        #expect(matches.map(\.object.title) == ["milk", "other"])
        #expect(matches[0].score > matches[1].score && matches[1].score > 0)
        let oldest = try stage.read { try $0.matches(.words("milk"), order: .oldestFirst) }
        #expect(oldest.map(\.key) == ["a", "b"])
        #expect(oldest.map(\.score) == matches.reversed().map(\.score))
        #expect(try stage.read { try $0.keys(.words("milk"), order: .newestFirst) } == ["b", "a"])
        #expect(try stage.read { try $0.keys(.words("milk"), limit: 1) } == ["b"])
        #expect(try stage.read { try $0.keys(.words("milk"), limit: 1, offset: 1) } == ["a"])
        #expect(try stage.read { try $0.keys(.words("milk"), offset: 1) } == ["a"])
        #expect(try stage.read { try $0.keys(.words("milk"), limit: -1) } == [])
    }

    @Test func noTextIsSyntax() throws {
        try stage.set(["a": "milk", "b": "and or not near title", "c": "x"])
        let texts = [
            "\"", "\"\"", "\"milk", "milk\"", "*", "milk*", "NEAR(", "NEAR(milk, 2)", "AND", "milk AND", "OR",
            "NOT",
            "title:", "title: milk", "col:", "-x", "^milk", "{title}: milk", "(", ")", "milk)", "((", "+",
            "milk + x",
            "'", "''; DROP TABLE x", "😀", "milk 😀", "\0", "mi\0lk", "milk\0", "\u{301}", "\"\u{301} OR x",
            "\"\u{301}", "\0\u{301}\"", "?1", "\\", "%", "\u{200D}", "\u{FFFF}", "", " ", "\r\n",
        ]
        for text in texts {
            for query in [Query.words(text), .prefix(text), .anyWord(text), .phrase(text)] {
                _ = try stage.keys(query)
                _ = try stage.keys(query.in(\.title) && .words("milk") || query.excluding(query))
            }
        }
        for text in ["\"", "*", "😀", "\0", "", " ", "-", "(", "\u{200D}"] {
            #expect(try stage.keys(.words(text)) == [] && stage.keys(.prefix(text)) == [], "\(text)")
            #expect(try stage.keys(.anyWord(text)) == [] && stage.keys(.phrase(text)) == [], "\(text)")
        }
        #expect(try stage.keys(.words("AND")) == ["b"])
        #expect(try stage.keys(.words("milk OR x")) == [])
        #expect(try stage.keys(.words("\"milk*")) == ["a"])
        #expect(try stage.keys(.words("title:milk")) == [])
        #expect(try stage.keys(.words("-x")) == ["c"])
        #expect(try stage.keys(.words("milk 😀")) == ["a"])
        #expect(try stage.keys(.words("\"\u{301} OR x")) == [])
        #expect(try stage.keys(.words("milk\0")) == ["a"])
    }

    @Test func aMistakeInAnExpressionIsAnErrorWithSQLitesMessage() throws {
        for expression in ["\"", "milk AND", "none: milk", "", "NEAR("] {
            do {
                _ = try stage.keys(.expression(expression))
                Issue.record("\(expression) is no mistake")
            } catch let error as YapDatabaseError {
                #expect(error.code == .sqlite, "\(expression)")
                #expect(
                    error.message.contains("fts5") || error.message.contains("no such column")
                        || error.message.contains("unterminated"), "\(error.message)")
            }
        }
    }

    @Test func aQueryThatIsTooLongIsAnError() throws {
        try stage.set(["a": "milk"])
        let many = Array(repeating: "milk", count: Query.wordsMax).joined(separator: " ")
        #expect(try stage.keys(.words(many)) == ["a"])
        #expect(try stage.keys(.anyWord(many)) == ["a"])
        let chain = (1..<Query.wordsMax).reduce(Query.words("milk")) { query, _ in query || .words("milk") }
        #expect(try stage.keys(chain) == ["a"])
        #expect(code { _ = try stage.keys(.words(many + " milk")) } == .invalidExtension)
        #expect(code { _ = try stage.keys(.words("milk").excluding(.words(many))) } == .invalidExtension)
        let long = String(repeating: "a", count: Query.bytesMax)
        #expect(try stage.keys(.words(long)) == [])
        #expect(code { _ = try stage.keys(.words(long + "a")) } == .invalidExtension)
        #expect(code { _ = try stage.keys(.expression(long + "a")) } == .invalidExtension)
    }

    @Test func caseAndDiacriticsDoNotCount() throws {
        try stage.set(["a": "Café ÄRGER", "b": "cafe\u{301} arger", "c": "ШКОЛА"])
        #expect(try stage.keys(.words("cafe")) == ["a", "b"])
        #expect(try stage.keys(.words("CAFÉ ärger")) == ["a", "b"])
        #expect(try stage.keys(.words("школа")) == ["c"])
    }

    @Test func porterFindsOtherFormsOfEnglishWords() throws {
        let stage = try FullTextSearchStage(FullTextSearchStage.search(tokenizer: .porter))
        try stage.set(["a": "She was running", "b": "a run"])
        #expect(try stage.keys(.words("runs")) == ["a", "b"])
        #expect(try self.stage.keys(.words("runs")) == [])
    }

    @Test func prefixIndexesChangeNoResult() throws {
        let indexed = try FullTextSearchStage(FullTextSearchStage.search(prefix: [2, 3]))
        for stage in [stage, indexed] {
            try stage.set(["a": "milk", "b": "million", "c": "mist"])
            #expect(try stage.keys(.prefix("m")) == ["a", "b", "c"])
            #expect(try stage.keys(.prefix("mi")) == ["a", "b", "c"])
            #expect(try stage.keys(.prefix("mil")) == ["a", "b"])
            #expect(try stage.keys(.prefix("mill")) == ["b"])
        }
    }

    @Test(arguments: [1e-5, 1.5e-7, 1e-300, .leastNonzeroMagnitude, 1e16, 1.25e17, 1e100])
    func weightsOfAnySizeAreRead(weight: Double) throws {
        #expect(Double(FullTextSQL.decimal(weight)) == weight)
        #expect(!FullTextSQL.decimal(weight).contains("e"))
        let search = FullTextSearchStage.Search("weighted", of: Page.self, in: "pages", version: "1") {
            $0.column(\.title, weight: weight)
            $0.column(\.body)
        }
        try stage.database.blocking.register(search)
        try stage.write { transaction in
            try transaction.set(Page(title: "other", body: "milk"), "a")
            try transaction.set(Page(title: "milk", body: "other"), "b")
            for key in ["c", "d", "e"] { try transaction.set(Page(title: "none", body: "none"), key) }
        }
        let matches = try stage.connection.blocking.read { try $0[search].matches(.words("milk")) }
        #expect(matches.map(\.key) == (weight > 1 ? ["b", "a"] : ["a", "b"]))
        #expect(
            matches.allSatisfy { $0.score.isFinite && $0.score >= 0 } && matches.map(\.score).max() ?? 0 > 0)
    }

    @Test(arguments: [-1, -.leastNonzeroMagnitude, .nan, .infinity, -.infinity, 1.1e100])
    func weightsThatAreNoWeightsAreRefused(weight: Double) throws {
        let search = FullTextSearchStage.Search("weighted", of: Page.self, in: "pages", version: "1") {
            $0.column(\.title, weight: weight)
        }
        let error = #expect(throws: YapDatabaseError.self) { try stage.database.blocking.register(search) }
        #expect(error?.code == .invalidExtension)
        #expect(error?.message.contains("the weight of the column title is \(weight)") == true)
    }
}

import Foundation
import System
import Testing
import Yap

@testable import YapCommand

/// `yap db query` and `yap db collections`.
@Suite struct DatabaseQueryTests {
    private let stage: DatabaseStage

    init() throws {
        stage = try DatabaseStage()
        try stage.fill(try stage.open())
    }

    private func keys(_ condition: String, _ orders: [String] = [], limit: Int? = nil) throws -> [String] {
        let progress = Progress(Console(program: "yap", environment: [:]))
        var search = RowSearch(
            try RowFilterParser.condition(condition), try orders.map(RowOrder.init), limit: limit,
            seconds: 60,
            progress)
        var keys: [String] = []
        let file = try DatabaseFile(path: stage.path)
        try file.read { try search.run(file, "todos") { keys.append($0.key) } }
        return keys
    }

    @Test(arguments: [
        ("priority >= 3 and list == \"home\"", "0"), ("priority > 3 or title = 'Eggs'", "12"),
        ("not (priority = 3 || isDone)", "1"), ("isDone", "2"), ("!isDone && list != 'home'", "3"),
        ("due is null", "12"), ("due is not null", "03"), ("due == null and isDone == true", "2"),
        ("due < 2026-11-27", "0"), ("due >= 2026-11-27T00:00:00Z", "3"), ("due > null", ""),
        ("tags contains 'b'", "0"), ("title contains 'gg'", "1"), ("title beginswith 'M'", "0"),
        ("title ENDSWITH 'l'", "3"), ("tags[-1] == 'b'", "0"), ("tags[2] == null", "0123"),
        ("place.city == 'Bern'", "0"), ("`place`.`city` <> null", "0"), ("list in ('work', 'x')", "23"),
        ("priority not in (1, 5)", "03"), ("$key == '2'", "2"), ("$metadata >= 1", "13"),
        ("priority == 3.0", "03"),
        ("priority < list", ""), ("priority > -1 and 3 <= priority", "023"), ("title == list", ""),
        ("true", "0123"),
        ("priority < 9223372036854775807 and priority > -1e300", "0123"), ("absent != 1", "0123"),
    ])
    func aConditionFindsItsRows(_ condition: String, _ expected: String) throws {
        #expect(try keys(condition).joined() == expected, "\(condition)")
    }

    @Test(arguments: [
        ("", 1, "a property or a value"), ("priority >=", 12, "not the end"),
        ("priority >= and x", 13, "not and"), ("(a == 1", 8, "a closing parenthesis"),
        ("a == 1 b", 8, "and, or, or the end"), ("a == 'x", 6, "the quote has no end"),
        ("a = 1 # b", 7, "not a part"),
        ("a.1", 3, "a property's name"), ("a[x]", 3, "the number of an element"),
        ("a in 1", 6, "in parentheses"),
        ("a not 1", 7, "in is expected"), ("3", 2, "a comparison"),
        ("a = 3x", 5, "neither a number nor a time"),
        ("a = '\\q'", 6, "unknown escape"),
        (String(repeating: "(", count: 100), 65, "more than 64 levels"),
    ])
    func aWrongConditionIsAnErrorAtItsPlace(_ condition: String, _ column: Int, _ words: String) throws {
        let error = #expect(throws: PlaceError.self) { try RowFilterParser.condition(condition) }
        #expect(
            error?.column == column && error?.text.contains(words) == true, "\(String(describing: error))")
    }

    @Test func rowsAreSortedWithinTheirLimit() throws {
        #expect(try keys("true", ["priority", "-title"]) == ["1", "0", "3", "2"])
        #expect(try keys("true", ["-priority"], limit: 2) == ["2", "0"])
        #expect(try keys("true", ["due", "list"]) == ["1", "2", "0", "3"])
        #expect(try keys("true", ["-place.city"]) == ["0", "1", "2", "3"])
        #expect(try keys("true", limit: 3) == ["0", "1", "2"])
    }

    @Test func numbersCompareWithoutRounding() {
        let most = StoredValue.integer(.max)
        #expect(StoredValueOrder.compared(most, .double(9_223_372_036_854_775_808)) == -1)
        #expect(StoredValueOrder.compared(.unsigned(1 << 63), .double(9_223_372_036_854_775_808)) == 0)
        #expect(StoredValueOrder.compared(.unsigned(.max), .double(.infinity)) == -1)
        #expect(StoredValueOrder.compared(.integer(-1), .double(-0.5)) == -1)
        #expect(StoredValueOrder.compared(.integer(.min), .double(-.infinity)) == 1)
        #expect(StoredValueOrder.compared(.double(.nan), most) == nil)
        #expect(!StoredValueOrder.areEqual(.float(0.1), .double(0.1)))
        #expect(StoredValueOrder.areEqual(.float(0.5), .double(0.5)))
        #expect(!StoredValueOrder.areEqual(.text("\u{E9}"), .text("e\u{301}")))
        #expect(StoredValueOrder.sorted(.double(.nan), .integer(.min)) == -1)
    }

    @Test func aSearchEndsWithItsTime() throws {
        final class Clock: MonotonicSource {
            func elapsedMilliseconds() -> Int64 {
                count.withLock { count in
                    count += 5_000; return count
                }
            }
            private let count = Lock(Int64(0))
        }
        let progress = Progress(Console(program: "yap", environment: [:], errors: -1))
        var search = RowSearch(.all([]), [], limit: nil, seconds: 1, progress, clock: Clock())
        let file = try DatabaseFile(path: stage.path)
        let error = #expect(throws: Failure.self) { try search.run(file, "todos") { _ in } }
        guard case .failed(let text) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(text.contains("longer than 1 seconds"))
    }

    @Test func theCommandPrintsWhatItFindsBesideTheApp() async throws {
        let rows = try await stage.db(
            "query", stage.path, "todos", "--where", "priority == 3", "--sort", "-title")
        #expect(
            rows.output.split(separator: "\n").map { $0.prefix(15) } == [
                "0  {\"title\":\"Mi", "3  {\"title\":\"Ca",
            ])
        let json = try await stage.db("query", stage.path, "todos", "--where", "isDone", "--json")
        #expect(json.output.hasPrefix(#"{"collection":"todos","key":"2","object":{"#), "\(json)")
        let both = try await stage.db(
            "query", stage.path, "todos", "--where", "priority = 3", "--where", "due < 2026-11-27", "--count")
        #expect(both.output == "1\n")
        let typo = try await stage.db(
            "query", stage.path, "todos", "--where", "priorty > 1", "--sort", "titel")
        #expect(typo.code == 0 && typo.output.isEmpty, "\(typo)")
        #expect(typo.errors.contains("has priorty. There are: priority"), "\(typo)")
        #expect(typo.errors.contains("has titel. There are: title"), "\(typo)")
        let absent = try await stage.db("query", stage.path, "todo")
        #expect(absent.code == 3 && absent.errors.contains("There are: todos"), "\(absent)")
        let wrong = try await stage.db("query", stage.path, "todos", "--where", "a >=")
        #expect(
            wrong.code == 2 && wrong.errors.contains("column 5: a property or a value is expected"),
            "\(wrong)")
        let order = try await stage.db("query", stage.path, "todos", "--sort", "-a..b")
        #expect(order.code == 2 && order.errors.contains("column 4"), "\(order)")
        let foreign = try await stage.db(
            "query", stage.path, "plain", "--where", "a == 2", "--count", "--json")
        #expect(foreign.output == "{\"count\":0}\n", "\(foreign)")
    }

    @Test func collectionsAreShownWithWhatTheirRowsHave() async throws {
        let ended = try await stage.db("collections", stage.path)
        #expect(ended.code == 0, "\(ended)")
        for words in [
            "odd: 1 row, ", "versions: 3 of 1 objects", "plain: 10 rows", "foreign: 3 objects",
            "properties: due, isDone, list, place, priority, tags, title",
        ] {
            #expect(ended.output.contains(words), "\(words): \(ended.output)")
        }
        let json = try await stage.db("collections", stage.path, "--json").output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let collections = try #require(object["collections"] as? [[String: Any]])
        #expect(collections.map { $0["rowsWithMetadata"] as? Int } == [0, 10, 4])
    }
}

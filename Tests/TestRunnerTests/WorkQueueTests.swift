import TestRun
import Testing

@Suite struct WorkQueueTests {
    private let tests = ["a()", "b()", "c(_:)"].flatMap { function in
        ["Short", "Long", "New"].compactMap { TestID(EventLines.id($0, function)) }
    }

    @Test func theLongestUnitsBeginAndShortOnesShareAProcess() {
        var queue = WorkQueue(tests, of: tests, seconds: ["ToyTests.Short": 1, "ToyTests.Long": 50])
        #expect(queue.next().map(\.name) == ["ToyTests.Long"])
        let rest = queue.next()
        #expect(rest.map(\.name) == ["ToyTests.Short", "ToyTests.New"])
        #expect(rest.flatMap(\.filters) == [#"^ToyTests\.Short/"#, #"^ToyTests\.New/"#])
        #expect(queue.isEmpty && queue.next().isEmpty)
    }

    @Test func aPartOfAUnitIsChosenByTheNamesOfItsTests() throws {
        var queue = WorkQueue(Array(tests.prefix(1)), of: tests, seconds: [:])
        let part = try #require(queue.next().first)
        #expect(part.filters == [#"^ToyTests\.Short/a\(\)/Toy\.swift:7:6$"#])
        queue.putBack(part.tests)
        #expect(queue.next() == [part])
    }
}

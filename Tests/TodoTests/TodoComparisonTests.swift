import Testing
import TodoKit

@Suite struct TodoComparisonTests {
    @Test func equalListsHaveNoDifferences() {
        let list = ["1": Todo(text: "a", order: 2), "2": Todo(text: "b", order: 1)]
        let comparison = TodoComparison([list, list, list])
        #expect(comparison.rows.map(\.key) == ["2", "1"])
        #expect(comparison.differences.isEmpty)
    }

    @Test func anItemThatOnePlaceLacksIsADifference() {
        let list = ["1": Todo(text: "a")]
        #expect(TodoComparison([list, [:], list]).differences.map(\.key) == ["1"])
        #expect(TodoComparison([[:], list]).differences.map(\.key) == ["1"])
    }

    @Test func oneFieldOrOneByteIsADifference() {
        let item = Todo(text: "caf\u{E9}")
        #expect(TodoComparison([["1": item], ["1": Todo(text: "cafe\u{301}")]]).differences.count == 1)
        #expect(
            TodoComparison([["1": item], ["1": Todo(text: "caf\u{E9}", order: 3)]]).differences.count == 1)
    }
}

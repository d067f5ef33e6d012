import Testing
import TodoKit

@Suite struct TodoComparisonTests {
    @Test func equalListsHaveNoDifferences() {
        let list = ["1": Todo(title: "a", order: 2), "2": Todo(title: "b", order: 1)]
        let comparison = TodoComparison([list, list, list])
        #expect(comparison.rows.map(\.key) == ["2", "1"])
        #expect(comparison.differences.isEmpty)
    }

    @Test func anItemThatOnePlaceLacksIsADifference() {
        let list = ["1": Todo(title: "a")]
        #expect(TodoComparison([list, [:], list]).differences.map(\.key) == ["1"])
        #expect(TodoComparison([[:], list]).differences.map(\.key) == ["1"])
    }

    @Test func whatStaysOnADeviceIsNoDifference() {
        let item = Todo(title: "a")
        #expect(TodoComparison([["1": item], ["1": Todo(title: "a", isPinned: true)]]).differences.isEmpty)
        let red = TodoColor(named: "red")
        #expect(TodoComparison([["1": item], ["1": Todo(title: "a", color: red)]]).differences.count == 1)
    }

    @Test func oneFieldOrOneByteIsADifference() {
        let item = Todo(title: "caf\u{E9}")
        #expect(TodoComparison([["1": item], ["1": Todo(title: "cafe\u{301}")]]).differences.count == 1)
        #expect(
            TodoComparison([["1": item], ["1": Todo(title: "caf\u{E9}", order: 3)]]).differences.count == 1)
    }
}

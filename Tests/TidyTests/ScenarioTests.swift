import Testing

/// docs/design/SCENARIOS.md numbers what the sync extension does; a test that holds a number begins its display name
/// with it: `@Test("22. ...")`, `@Test("7, 8. ...")`, `@Test("16-18. ...")`.
@Suite struct ScenarioTests {
    /// The numbers that a display name begins with.
    static func numbers(in text: String) -> Set<Int> {
        var numbers: Set<Int> = []
        for match in text.matches(of: #/"(\d+(?:(?:, |-)\d+)*)(?: [^".]{1,30})?\. /#) {
            for part in match.output.1.split(separator: ", ") {
                let ends = part.split(separator: "-").compactMap { Int($0) }
                if let first = ends.first, let last = ends.last, first <= last {
                    numbers.formUnion(first...last)
                }
            }
        }
        return numbers
    }

    @Test func everyScenarioHasATest() throws {
        let page = try #require(Repository.text(of: "docs/design/SCENARIOS.md"))
        let numbered = page.matches(of: /\n\| (\d+) \|/).compactMap { Int($0.output.1) }
        #expect(numbered.count >= 144 && numbered == Array(1...numbered.count))
        let files = Repository.swiftFiles(in: ["Tests"]).filter {
            $0.path != "Tests/TidyTests/ScenarioTests.swift"
        }
        let tested = files.reduce(into: Set<Int>()) {
            $0.formUnion(Self.numbers(in: $1.lines.joined(separator: "\n")))
        }
        let missing = numbered.filter { !tested.contains($0) }
        #expect(missing.isEmpty, "no test carries \(missing)")
    }

    @Test func theNumbersOfADisplayNameAreRead() {
        #expect(Self.numbers(in: #"@Test("7, 8. rows")"#) == [7, 8])
        #expect(
            Self.numbers(in: #"@Test("16-18, 20 folded. rows") @Test("21. a row")"#) == [16, 17, 18, 20, 21])
        #expect(Self.numbers(in: #"@Test("rows of 21. a row", "x 3. y")"#).isEmpty)
    }
}

import Testing

/// docs/design/ORIGINAL_TESTS.md lists what the tests of YapDatabase assert, with the tests of ours that hold it.
@Suite struct OriginalTestsPageTests {
    private struct Row {
        let line: String
        let heldBy: String

        /// The rows of tables, without their heads.
        static func all(_ text: String) -> [Row] {
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("| ") }
            return lines.map { line in
                let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                return Row(line: String(line), heldBy: cells.count == 4 ? String(cells[2]) : "")
            }.filter { $0.heldBy != " held by " }
        }

        /// The names of tests: `Suite.test`.
        var tests: [String] {
            heldBy.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 && $0.element.first?.isUppercase == true }
                .map { String($0.element) }.filter { $0.split(separator: ".")[0].hasSuffix("Tests") }
        }

        var saysWhyNot: Bool { heldBy.hasPrefix(" **Not here:** ") }
    }

    /// The functions of the suites, as `Suite.test`. Without regular expressions, which take long in a debug build.
    private static func tests(_ files: [SourceFile]) -> Set<String> {
        var tests: Set<String> = []
        for file in files {
            // Tests without a suite have the name of their file.
            let fileName = file.path.split(separator: "/").last.map { String($0.dropLast(6)) } ?? ""
            var suite = fileName
            for line in file.code where line.first != " " || line.contains("func ") {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
                guard words.count > 1 else { continue }
                if line.first != " ", let index = words.firstIndex(where: ["struct", "class"].contains),
                    index + 1 < words.count
                {
                    suite = words[index + 1]
                } else if let index = words.firstIndex(of: "func"), index + 1 < words.count {
                    tests.insert((line.first == " " ? suite : fileName) + "." + words[index + 1])
                }
            }
        }
        return tests
    }

    @Test func eachRowNamesTestsThatExistOrSaysWhyThereIsNone() throws {
        let page = try #require(Repository.text(of: "docs/design/ORIGINAL_TESTS.md"))
        let rows = Row.all(page)
        #expect(rows.count >= 130)
        let empty = rows.filter { $0.tests.isEmpty && !$0.saysWhyNot }.map(\.line)
        #expect(empty.isEmpty, "\n\(empty.joined(separator: "\n"))")
        let tests = Self.tests(Repository.swiftFiles(in: ["Tests/YapTests"]))
        let unknown = rows.flatMap(\.tests).filter { !tests.contains($0) }
        #expect(unknown.isEmpty, "\n\(unknown.joined(separator: "\n"))")
    }

    @Test func eachFileOfTheOriginalHasItsPart() throws {
        let page = try #require(Repository.text(of: "docs/design/ORIGINAL_TESTS.md"))
        let heads = page.split(separator: "\n").filter { $0.hasPrefix("## Test") }
        let counts = heads.compactMap { head in
            head.split(separator: "(").last.flatMap { Int($0.dropLast()) }
        }
        #expect(counts == [15, 24, 23, 9, 3, 2, 1, 1, 16, 60, 181] && counts.reduce(0, +) == 335)
    }

    @Test func rowsAndTestsAreRead() {
        let rows = Row.all(
            """
            | behaviour | held by |
            |---|---|
            | a `A.b` | `ATests.b`, `BTests.c` and `x.y` |
            | c | **Not here:** because |
            | d | nothing |
            """)
        #expect(rows.map(\.tests) == [["ATests.b", "BTests.c"], [], []])
        #expect(rows.map(\.saysWhyNot) == [false, true, false])
        let file = SourceFile(
            path: "x.swift",
            text: """
                @Suite struct ATests {
                    @Test func b() {}
                    struct Inner { func hidden() {} }
                    @Test(arguments: [1]) private func c(x: Int) {}
                }
                private final class BTests {
                    // func comment()
                    func d() {}
                }
                @Test func e() {}
                """)
        #expect(Self.tests([file]) == ["ATests.b", "ATests.hidden", "ATests.c", "BTests.d", "x.e"])
    }
}

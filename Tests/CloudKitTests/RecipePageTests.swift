import Foundation
import Testing

/// `docs/TESTING.md` shows code that runs: `RecipeTests` has each block, and `TestedAppTests` of the guide the one that
/// needs the database.
@Suite struct RecipePageTests {
    private let page: String
    private let recipes: [Substring]

    init() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "docs/TESTING.md"), encoding: .utf8)
        let tests = root.appending(path: "Tests")
        recipes = try ["CloudKitTests/RecipeTests.swift", "GuideTests/TestedAppTests.swift"].flatMap {
            Self.lines(try String(contentsOf: tests.appending(path: $0), encoding: .utf8))
        }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }

    @Test func everyBlockOfThePageIsATestThatRuns() {
        let parts = page.components(separatedBy: "```")
        let blocks = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
            .filter { $0.hasPrefix("swift\n") }.map { Self.lines(String($0.dropFirst("swift\n".count))) }
        #expect(blocks.count >= 10)
        for block in blocks {
            let isThere = recipes.indices.contains { recipes[$0...].starts(with: block) }
            #expect(isThere, "\(block.joined(separator: "\n"))")
        }
    }

    @Test func everyRecipeIsOnThePage() {
        let names = recipes.compactMap { $0.firstMatch(of: /^@Test func (\w+)/)?.output.1 }
        #expect(names.count >= 10)
        for name in names { #expect(page.contains("`\(name)`"), "\(name)") }
    }
}

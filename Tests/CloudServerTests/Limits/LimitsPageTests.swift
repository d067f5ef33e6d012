import Foundation
import Testing

@testable import CloudServer
@testable import CloudService

/// `docs/LIMITS.md` shows the bounds of the code, and no others.
@Suite struct LimitsPageTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardized
    private static let page = LimitsPage(options: CloudServerOptions())

    // `Scripts/limits` writes the page's tables anew.
    @Test func thePageHasTheTablesOfAllBounds() throws {
        let file = Self.root.appending(path: "docs/LIMITS.md")
        var text = try String(contentsOf: file, encoding: .utf8)
        if ProcessInfo.processInfo.environment["YAP_TABLES"] == "write" {
            let start = try #require(text.range(of: LimitsPage.header)).lowerBound
            text.replaceSubrange(start..., with: Self.page.text)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(text.hasSuffix(Self.page.text), "Scripts/limits writes the tables anew")
    }

    @Test func everyNameThatThePageGivesIsInTheCode() throws {
        let sources = Self.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") }
        var declared = Set<String>()
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            for (word, next) in zip(words, words.dropFirst())
            where ["var", "let", "struct", "class", "enum"].contains(word) { declared.insert(String(next)) }
        }
        #expect(Self.page.names.subtracting(declared).sorted() == [])
        #expect(Self.page.names.count > 40)
    }

    @Test func everyRouteThatNoServiceAnswersIsOnThePage() {
        for (name, route) in Route.bounded { #expect(route.bounds(CloudServerOptions()) != nil, "\(name)") }
        let names = Set(Route.bounded.map { String("\($0.route)".prefix { $0 != "(" }) })
        #expect(names.count == 13, "a new case of Route is to be among those that are bounded")
        #expect(Self.page.rows.count == Endpoint.allCases.count + Route.bounded.count)
    }
}

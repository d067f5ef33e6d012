import Foundation
import Testing

/// The guide shows code that runs: each Swift block of its pages stands in a file of this folder, or of the extension
/// that it shows, line for line.
@Suite struct GuidePageTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
    static let guide = root.appending(path: "docs/guide")
    private static let example = root.appending(path: "Examples/WordCount")

    @Test func everyBlockOfTheGuideIsCodeThatRuns() throws {
        let pages = try FileManager.default.contentsOfDirectory(atPath: Self.guide.path).sorted()
        #expect(pages.count >= 5)
        for page in pages { try checkBlocks(of: page) }
    }

    private func checkBlocks(of page: String) throws {
        let text = try String(contentsOf: Self.guide.appending(path: page), encoding: .utf8)
        let parts = text.components(separatedBy: "```")
        let blocks = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
            .filter { $0.hasPrefix("swift\n") }.map { Self.lines(String($0.dropFirst("swift\n".count))) }
        #expect(!blocks.isEmpty, "\(page)")
        let sources = try [folder, Self.example].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix(".swift") }
                .map { Self.lines(try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
        }
        for block in blocks {
            let isThere = sources.contains { source in
                source.indices.contains { source[$0...].starts(with: block) }
            }
            #expect(isThere, "\(page): \(block.joined(separator: "\n"))")
        }
    }
}

import CodeBlocks
import Foundation
import Testing

/// The documentation shows code that runs: each Swift block stands in a file of this folder, or of the extension that
/// the guide shows, line for line.
@Suite struct GuidePageTests {
    private let code: CodeBlocks

    init() throws { code = try CodeBlocks(folders: ["Tests/GuideTests", "Examples/WordCount"]) }

    @Test(arguments: ["docs/guide", "docs/docc"])
    func everyBlockOfAPageIsCodeThatRuns(folder: String) throws {
        let pages = try FileManager.default.contentsOfDirectory(
            atPath: CodeBlocks.root.appending(path: folder).path
        ).sorted()
        #expect(pages.count >= 4)
        for page in pages {
            let blocks = try CodeBlocks.ofPage("\(folder)/\(page)")
            #expect(!blocks.isEmpty, "\(page)")
            for block in blocks { check(block) }
        }
    }

    @Test func blocksAreFoundInPages() throws {
        #expect(try CodeBlocks.ofPage("docs/guide/READING.md").count >= 20)
        let changed = CodeBlocks.Block(place: "", text: "let database = try YapDatabase(url: nowhere)")
        #expect(!code.contain(changed))
    }

    private func check(_ block: CodeBlocks.Block) {
        #expect(code.contain(block), "\(block.place): \(block.lines.joined(separator: "\n"))")
    }
}

import Foundation
import Testing

/// The table is whole, and what it says is so.
@Suite struct GuideTableTests {
    private let sources: SourceReader
    private let app: URL

    init() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        sources = try SourceReader(folder: folder)
        app = folder.appendingPathComponent("App")
    }

    @Test func everySymbolOfTheGuidesIsInTheCodeThatItsTestRuns() {
        #expect(GuideTable.rows.count > 100)
        var reached: [String: Set<String>] = [:]
        for row in GuideTable.rows {
            let words = reached[row.test] ?? sources.words(from: row.test)
            reached[row.test] = words
            #expect(!words.isEmpty, "there is no test \(row.test)")
            let missing = SourceReader.words(row.symbol).filter { !words.contains($0) }
            #expect(missing.isEmpty, "\(row.test) doesn't lead to \(missing) of \(row.symbol)")
        }
    }

    @Test func aSymbolThatNoCodeUsesIsSeen() {
        let words = sources.words(from: "aChangeOfTheAccountIsHeard")
        #expect(words.contains("CKAccountChangedNotification") && words.contains("observeAccount"))
        #expect(!words.contains("CKModifyRecordsOperation") && !words.contains("recordChangedBlock"))
        #expect(sources.words(from: "aTestThatIsNotThere").isEmpty)
    }

    /// Each word of the guides that begins as CloudKit's names do. The guides lie beside the checkout, not in it.
    @Test func noNameOfTheGuidesIsMissingInTheTable() throws {
        guard let guides = Self.guides else { return print("guides: absent") }
        let folder = URL(fileURLWithPath: guides)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { ["001_", "003_"].contains($0.lastPathComponent.prefix(4)) }
        #expect(files.count == 2)
        let named = Set(
            GuideTable.rows.flatMap { SourceReader.words($0.symbol) + SourceReader.words($0.spelling) })
        for file in files {
            let words = SourceReader.words(try String(contentsOf: file, encoding: .utf8))
            let missing = Set(words.filter { $0.hasPrefix("CK") && $0.count > 2 }).subtracting(named)
            #expect(missing.isEmpty, "\(missing.sorted())")
        }
    }

    private static let guides = ProcessInfo.processInfo.environment["YAP_GUIDES"]

    @Test func theAppImportsWhatAnAppOnApplesPlatformsImports() throws {
        let files = try FileManager.default.contentsOfDirectory(at: app, includingPropertiesForKeys: nil)
        #expect(files.count >= 7)
        for file in files {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let imports = lines.filter { $0.contains("import ") && !$0.hasPrefix(" ") }
            #expect(
                Set(imports).isSubset(of: ["import CloudKit", "import Foundation"]),
                "\(file.lastPathComponent)")
            // Nothing that knows on which platform it is.
            #expect(!lines.contains { $0.hasPrefix("#if") }, "\(file.lastPathComponent)")
        }
    }
}

import Foundation
import HTTPServer
import Testing

/// The inputs that the fuzzer began with, and those that it once failed on (Fuzz/Corpus).
@Suite struct CorpusTests {
    @Test func everyKeptInputMeansTheSameHoweverItIsCut() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/Corpus/request")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files.count >= 20)
        for file in files {
            let bytes = try Array(Data(contentsOf: folder.appending(path: file)))
            #expect(Parsed.cutsThatMatter(bytes) == [], "\(file)")
        }
    }
}

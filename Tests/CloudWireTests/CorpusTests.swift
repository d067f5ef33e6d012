import Foundation
import Testing

@testable import CloudWire

/// The inputs that the fuzzer began with, and those that it once failed on (Fuzz/Corpus).
@Suite struct CorpusTests {
    private func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/Corpus/\(name)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!files.isEmpty)
        return try files.map { ($0, try Array(Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test func everyKeptJSONIsReadOrRefused() throws {
        for (name, bytes) in try inputs("json") {
            do {
                _ = try JSONReader.read(bytes) { node throws(JSONError) in try node.tree() }
            } catch {
                #expect(error.byteOffset <= bytes.count, "\(name)")
            }
        }
    }

    @Test func keptFieldsAreReadOnlyAsTheyAreWritten() throws {
        for (name, bytes) in try inputs("fields") {
            guard let fields = try? FieldsBinary.decode(bytes) else { continue }
            #expect(FieldsBinary.encode(fields) == bytes, "\(name)")
        }
    }
}

import Foundation
import FuzzTargets
import System
import TestSeed
import Testing

/// What the fuzzer began with, and what it once failed on (Fuzz/Corpus), read as it is and with changed bytes.
@Suite struct FuzzTests {
    static let names = FuzzTarget.all.map(\.name)

    private func target(_ name: String) throws -> FuzzTarget {
        try #require(FuzzTarget.all.first { $0.name == name })
    }

    private func inputs(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fuzz/Corpus/\(name)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!files.isEmpty)
        return try files.map { ($0, try Array(Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test(arguments: names) func everyKeptInputIsReadOrRefused(_ name: String) throws {
        let target = try target(name)
        for (file, bytes) in try inputs(name) {
            #expect(throws: Never.self, "\(name)/\(file)") { try target.run(bytes) }
        }
    }

    @Test(arguments: names) func soIsEveryKeptInputWithChangedBytes(_ name: String) throws {
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        let target = try target(name)
        let inputs = try inputs(name).map(\.bytes)
        for _ in 0..<300 {
            let bytes = mutated(inputs, random)
            #expect(throws: Never.self, "\(name), seed \(seed): \(bytes)") { try target.run(bytes) }
        }
    }

    /// A piece of one input in another, or some bytes changed, left out or doubled.
    private func mutated(_ inputs: [[UInt8]], _ random: SeededRandomSource) -> [UInt8] {
        var bytes = inputs[random.next(in: 0..<inputs.count)]
        for _ in 0..<random.next(in: 1..<5) {
            let place = random.next(in: 0..<bytes.count + 1)
            let end = min(bytes.count, place + random.next(in: 0..<9))
            switch random.next(in: 0..<4) {
            case 0: bytes.replaceSubrange(place..<end, with: [UInt8(truncatingIfNeeded: random.next())])
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default:
                let other = inputs[random.next(in: 0..<inputs.count)]
                let start = random.next(in: 0..<other.count + 1)
                bytes.replaceSubrange(place..<end, with: other[start..<min(other.count, start + 20)])
            }
        }
        return bytes
    }
}

import System
import TestSeed
import Testing

@testable import Yap

/// Places in a text, found in a bounded number of steps.
@Suite struct CharacterBoundariesTests {
    /// A range is widened by the definition: each end moves until it is between two characters.
    private func widened(_ bytes: Range<Int>, _ text: String) -> Range<String.Index> {
        let ends = text.indices + [text.endIndex]
        let offsets = ends.map { text.utf8.distance(from: text.startIndex, to: $0) }
        let lower = offsets.lastIndex { $0 <= bytes.lowerBound } ?? 0
        let upper = offsets.firstIndex { $0 >= bytes.upperBound } ?? 0
        return ends[lower]..<ends[upper]
    }

    @Test(arguments: TestSeed.values(count: 8))
    func rangesAreWidenedToWholeCharacters(seed: UInt64) {
        let random = SeededRandomSource(seed: seed)
        let parts = [
            "a", "b", " ", "\r", "\n", "\u{301}", "\u{308}", "e\u{301}", "👩‍👩‍👧", "🇩🇪", "\u{200D}", "東", "…",
        ]
        for _ in 0..<300 {
            let text = (0..<random.next(in: 1..<24)).map { _ in parts[random.next(in: 0..<parts.count)] }
                .joined()
            let scalars = text.unicodeScalars.indices + [text.endIndex]
            let offsets = scalars.map { text.utf8.distance(from: text.startIndex, to: $0) }
            let chosen = Set((0..<6).map { _ in offsets[random.next(in: 0..<offsets.count)] }).sorted()
            var characters = CharacterBoundaries(text)
            for (lower, upper) in zip(chosen, chosen.dropFirst()) where random.next() % 3 > 0 {
                #expect(
                    characters.widened(lower..<upper) == widened(lower..<upper, text),
                    "\(text.debugDescription)")
            }
            #expect(characters.stepsCount <= 2 * text.utf8.count)
        }
    }

    @Test func aRunOfCombiningMarksIsVisitedOnce() {
        let marksCount = 20_000
        let text = "a" + String(repeating: "\u{301}", count: marksCount) + "b"
        var characters = CharacterBoundaries(text)
        for mark in 0..<marksCount {
            let range = characters.widened(1 + 2 * mark..<3 + 2 * mark)
            #expect(range.lowerBound == text.startIndex && text[range].count == 1)
        }
        #expect(characters.stepsCount <= 2 * text.utf8.count)
    }

    @Test func aTextOfEqualCharactersIsComparedOnceForEachPart() {
        let marks = String(repeating: "\u{301}", count: 5_000)
        let parts = TextScan.distinct([marks, "a\u{301}", "A\u{301}", "b"])
        #expect(parts.count == 3)
        let text = "a" + marks + marks
        let scan = Array(text.utf8).withUnsafeBytes { TextScan($0, parts) }
        #expect(scan.hits.count == 5_001 + 1)
        #expect(scan.hits.last?.tokens == 0..<2)
        #expect(scan.stepsCount <= 2 * (parts.count * text.utf8.count + parts.joined().count))
    }

    @Test(arguments: TestSeed.values(count: 8))
    func allPlacesOfAPartAreFound(seed: UInt64) {
        let random = SeededRandomSource(seed: seed)
        let bytes = { (count: Range<Int>) in
            (0..<random.next(in: count)).map { _ in UInt8(random.next(in: 0..<2)) }
        }
        for _ in 0..<300 {
            let (text, part) = (bytes(0..<40), bytes(1..<6))
            var found: [Int] = []
            var search = ByteSearch(part)
            search.forEachStart(in: text) { found.append($0) }
            #expect(found == text.indices.filter { text[$0...].starts(with: part) }, "\(part) in \(text)")
            #expect(search.stepsCount <= 2 * (text.count + part.count))
        }
    }
}

import Foundation
import System
import TestSeed
import Testing

@testable import Yap

/// Stored values that are read without their types.
@Suite struct StoredValueTests {
    private struct Model: Codable {
        var flag = true
        var small = -3
        var large = UInt64.max
        var ratio = 0.25
        var text = "ü"
        var bytes = Data([0, 255])
        var list: [Int?] = [1, nil]
        var numbers = [2: "two"]
    }

    private func value(_ bytes: [UInt8]) -> StoredValue { bytes.withUnsafeBytes { StoredValue(object: $0) } }

    @Test func eachKindOfValueIsReadAsItIs() throws {
        let expected: [(String, StoredValue)] = [
            ("flag", .bool(true)), ("small", .integer(-3)), ("large", .unsigned(.max)),
            ("ratio", .double(0.25)),
            ("text", .text("ü")), ("bytes", .bytes([0, 255])), ("list", .array([.integer(1), .null])),
        ]
        guard case .map(let entries) = value(try CBOREncoder().encode(Model())) else {
            Issue.record("no map")
            return
        }
        for (entry, (key, value)) in zip(entries, expected) {
            #expect(entry.key == .text(key) && entry.value == value)
        }
        #expect(entries.count == 8)
    }

    @Test func theVersionOfAModelIsNoPartOfItsValue() throws {
        let object = try CBOREncoder().encode(["a": 1])
        #expect(value(StoredForm.head(version: 3) + object) == value(object))
    }

    @Test(arguments: TestSeed.values(count: 20)) func anyBytesAreAValue(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let good = try CBOREncoder().encode(Model())
        for _ in 0..<500 {
            var bytes = random.next(in: 0..<2) == 0 ? good : (0..<random.next(in: 0..<40)).map { _ in 0 }
            for _ in 0..<random.next(in: 1..<4) where !bytes.isEmpty {
                bytes[random.next(in: 0..<bytes.count)] = UInt8(random.next(in: 0..<256))
            }
            if case .foreign(let kept) = value(bytes) { #expect(kept == bytes) }
        }
        #expect(value([]) == .foreign([]))
        #expect(value([0x9F, 0xFF]) == .foreign([0x9F, 0xFF]))
    }
}

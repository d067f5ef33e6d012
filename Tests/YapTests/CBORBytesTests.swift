import Foundation
import System
import TestSeed
import Testing

@testable import Yap

/// Any value without a type: what RFC 8949's examples are read as.
private indirect enum Item: Codable, Equatable {
    case null, bool(Bool), integer(Int64), unsigned(UInt64), double(Double), text(String), bytes([UInt8])
    case list([Item]), map([String: Item])

    init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? single.decode(Int64.self) {
            self = .integer(integer)
        } else if let unsigned = try? single.decode(UInt64.self) {
            self = .unsigned(unsigned)
        } else if let double = try? single.decode(Double.self) {
            self = .double(double)
        } else if let text = try? single.decode(String.self) {
            self = .text(text)
        } else if let data = try? single.decode(Data.self) {
            self = .bytes([UInt8](data))
        } else if let list = try? single.decode([Item].self) {
            self = .list(list)
        } else {
            self = .map(try single.decode([String: Item].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .integer(let value): try single.encode(value)
        case .unsigned(let value): try single.encode(value)
        case .double(let value): try single.encode(value)
        case .text(let value): try single.encode(value)
        case .bytes(let value): try single.encode(value)
        case .list(let value): try single.encode(value)
        case .map(let value): try single.encode(value)
        }
    }
}

/// RFC 8949, appendix A: what this format reads, and whether it writes it as the same bytes.
private let examples: [(String, Item, writes: Bool)] = [
    ("00", .integer(0), true), ("01", .integer(1), true), ("0a", .integer(10), true),
    ("17", .integer(23), true),
    ("1818", .integer(24), true), ("1819", .integer(25), true), ("1864", .integer(100), true),
    ("1903e8", .integer(1000), true), ("1a000f4240", .integer(1_000_000), true),
    ("1b000000e8d4a51000", .integer(1_000_000_000_000), true),
    ("1bffffffffffffffff", .unsigned(18_446_744_073_709_551_615), true),
    ("20", .integer(-1), true), ("29", .integer(-10), true), ("3863", .integer(-100), true),
    ("3903e7", .integer(-1000), true),
    // Doubles are written in eight bytes and floats in four, whatever their value; all widths are read.
    ("f90000", .double(0), false), ("f93c00", .double(1), false), ("fb3ff199999999999a", .double(1.1), true),
    ("f93e00", .double(1.5), false), ("f97bff", .double(65504), false),
    ("fa47c35000", .double(100_000), false),
    ("fa7f7fffff", .double(3.4028234663852886e+38), false), ("fb7e37e43c8800759c", .double(1.0e+300), true),
    ("f90001", .double(5.960464477539063e-8), false), ("f90400", .double(0.00006103515625), false),
    ("f9c400", .double(-4), false), ("fbc010666666666666", .double(-4.1), true),
    ("f97c00", .double(.infinity), false), ("f9fc00", .double(-.infinity), false),
    ("fa7f800000", .double(.infinity), false), ("fb7ff0000000000000", .double(.infinity), true),
    ("f4", .bool(false), true), ("f5", .bool(true), true), ("f6", .null, true),
    ("40", .bytes([]), true), ("4401020304", .bytes([1, 2, 3, 4]), true),
    ("60", .text(""), true), ("6161", .text("a"), true), ("6449455446", .text("IETF"), true),
    ("62225c", .text("\"\\"), true), ("62c3bc", .text("\u{fc}"), true), ("63e6b0b4", .text("\u{6c34}"), true),
    ("64f0908591", .text("\u{10151}"), true),
    ("80", .list([]), true), ("83010203", .list([.integer(1), .integer(2), .integer(3)]), true),
    (
        "8301820203820405",
        .list([
            .integer(1), .list([.integer(2), .integer(3)]), .list([.integer(4), .integer(5)]),
        ]), true
    ),
    (
        "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
        .list((1...25).map { .integer($0) }), true
    ),
    ("a0", .map([:]), true),
    (
        "a26161016162820203",
        .map(["a": .integer(1), "b": .list([.integer(2), .integer(3)])]), true
    ),
    ("826161a161626163", .list([.text("a"), .map(["b": .text("c")])]), true),
    (
        "a56161614161626142616361436164614461656145",
        .map(["a": .text("A"), "b": .text("B"), "c": .text("C"), "d": .text("D"), "e": .text("E")]), true
    ),
]

@Test func theStandardsExamplesAreReadAndWritten() throws {
    for (hexadecimal, item, writes) in examples {
        #expect(try decoded(bytes(hexadecimal), as: Item.self) == item, "\(hexadecimal)")
        if writes { #expect(try encoded(item) == bytes(hexadecimal), "\(hexadecimal)") }
    }
    #expect(try decoded(bytes("f97e00"), as: Double.self).isNaN)
    #expect(try decoded(bytes("fa7fc00000"), as: Float.self).isNaN)
    #expect(try decoded(bytes("fb7ff8000000000000"), as: Double.self).isNaN)
}

/// The rest of appendix A: tags, big numbers, simple values, keys that are no texts, indefinite lengths.
@Test(arguments: [
    "c249010000000000000000", "3bffffffffffffffff", "c349010000000000000000", "f7", "f0", "f8ff",
    "c074323031332d30332d32315432303a30343a30305a", "c11a514b67b0", "c1fb41d452d9e8200000", "d74401020304",
    "d818456449455446", "d82076687474703a2f2f7777772e6578616d706c652e636f6d", "a201020304",
    "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff", "9f01820203820405ff",
    "83018202039f0405ff", "83019f0203ff820405", "bf61610161629f0203ffff", "826161bf61626163ff",
    "bf6346756ef563416d7421ff",
])
func whatTheFormatLeavesOutIsRefused(hexadecimal: String) {
    #expect(throws: DecodingError.self) { try decoded(bytes(hexadecimal), as: Item.self) }
}

@Test(arguments: [
    "", "18", "1c", "1f", "ff", "f800", "f818", "61", "61ff", "62c328", "7bffffffffffffffff",
    "5bffffffffffffffff41",
    "9bffffffffffffffff", "bbffffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff", "8201", "a16161",
    "a2616101616102", "a161ff01", "0000", "a1616100f6", "fb000000", "9affffffff00",
])
func malformedBytesAreRefused(hexadecimal: String) {
    #expect(throws: DecodingError.self) { try decoded(bytes(hexadecimal), as: Item.self) }
}

@Test func aDuplicateKeyIsRefusedInALargeMapToo() throws {
    var keys = (0..<100).map { "key \($0)" }
    func map() throws -> [UInt8] {
        [0xB8, UInt8(keys.count)] + (try keys.flatMap { try encoded($0) + [0x01] })
    }
    #expect(try decoded(map(), as: [String: Int].self).count == 100)
    keys[70] = keys[5]
    #expect(throws: DecodingError.self) { try decoded(map(), as: [String: Int].self) }
}

@Test func depthIsLimited() throws {
    let deepest = [UInt8](repeating: 0x81, count: CBORLimits.depthMax) + [0x01]
    _ = try decoded(deepest, as: Item.self)
    let tooDeep = [UInt8](repeating: 0x81, count: CBORLimits.depthMax + 1) + [0x01]
    #expect(throws: DecodingError.self) { try decoded(tooDeep, as: Item.self) }
    let attack = [UInt8](repeating: 0x81, count: 1_000_000)
    #expect(throws: DecodingError.self) { try decoded(attack, as: Item.self) }
}

@Test func whatIsWrittenIsNeverTooDeepToBeRead() throws {
    final class Chain: Codable {
        var next: Chain?
        var tags = ["a"]
    }
    var outermost = Chain()
    var deepestRead = 0
    for depth in 1...CBORLimits.depthMax {
        guard let bytes = try? encoded(outermost) else { break }
        _ = try decoded(bytes, as: Chain.self)
        deepestRead = depth
        let around = Chain()
        around.next = outermost
        outermost = around
    }
    #expect(deepestRead == CBORLimits.depthMax - 1, "the innermost value holds an array")
}

@Test func keysOfALargeMapAreFoundInAnyOrder() throws {
    struct Reader: Decodable {
        init(from decoder: any Decoder) throws {
            let map = try decoder.container(keyedBy: CBORKey.self)
            for number in (0..<500).reversed() {
                let key = try #require(CBORKey(stringValue: "key \(number)"))
                #expect(map.contains(key))
                #expect(try map.decode(Int.self, forKey: key) == number)
            }
            let absent = try #require(CBORKey(stringValue: "key 500"))
            #expect(!map.contains(absent))
            #expect(try map.decodeIfPresent(Int.self, forKey: absent) == nil)
        }
    }
    let map = Dictionary(uniqueKeysWithValues: (0..<500).map { ("key \($0)", $0) })
    _ = try decoded(try encoded(map), as: Reader.self)
}

@Test func noTruncationReadsAsAValue() throws {
    for whole in [try encoded(Note()), try encoded(Interleaved()), try encoded(Everything().shapes)] {
        for count in whole.indices {
            let part = Array(whole[..<count])
            #expect(throws: DecodingError.self) { try decoded(part, as: Item.self) }
            #expect(throws: (any Error).self) { try decoded(part, as: Note.self) }
        }
    }
}

@Test func noBytesMakeTheDecoderCrash() throws {
    let seed = TestSeed.value
    print("CBOR mutations: seed \(seed)")
    let random = SeededRandomSource(seed: seed)
    var small = Everything()
    small.long = [1]
    small.many = ["a": 1]
    small.text = "ü"
    let originals = [
        try encoded(small), try encoded(Note()), try encoded(Interleaved()), try encoded(Everything().many),
    ]
    var readCount = 0
    for _ in 0..<2_000 {
        var mutated = originals[random.next(in: 0..<originals.count)]
        for _ in 0..<random.next(in: 1..<5) {
            let index = random.next(in: 0..<mutated.count)
            switch random.next(in: 0..<4) {
            case 0: mutated[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: mutated[index] ^= 1 << UInt8(random.next(in: 0..<8))
            case 2: mutated.remove(at: index)
            default: mutated.insert(contentsOf: mutated[index..<min(index + 9, mutated.count)], at: index)
            }
        }
        if let everything = try? decoded(mutated, as: Everything.self) {
            readCount += 1
            _ = try encoded(everything)
        }
        _ = try? decoded(mutated, as: Note.self)
        _ = try? decoded(mutated, as: Interleaved.self)
        _ = try? decoded(mutated, as: [String: Int].self)
        if let item = try? decoded(mutated, as: Item.self) {
            readCount += 1
            // What can be read can be written, and then reads the same.
            #expect(try encoded(decoded(try encoded(item), as: Item.self)) == encoded(item), "seed \(seed)")
        }
    }
    #expect(readCount > 40, "mutations that still read: otherwise this test only sees the first byte")
}

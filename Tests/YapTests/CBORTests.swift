import Foundation
import Testing

@testable import Yap

func encoded(_ value: some Encodable) throws -> [UInt8] {
    try CBOREncoder().encode(value)
}

func decoded<Value: Decodable>(_ bytes: [UInt8], as type: Value.Type = Value.self) throws -> Value {
    try CBORDecoder().decode(type, from: bytes)
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    stride(from: 0, to: hexadecimal.count, by: 2).map { offset in
        let start = hexadecimal.index(hexadecimal.startIndex, offsetBy: offset)
        return UInt8(hexadecimal[start..<hexadecimal.index(start, offsetBy: 2)], radix: 16) ?? 0
    }
}

@Test func everyShapeOfModelComesBackEqual() throws {
    #expect(try decoded(try encoded(Note()), as: Note.self) == Note())
    #expect(try decoded(try encoded(Everything()), as: Everything.self) == Everything())
    #expect(try decoded(try encoded(Interleaved()), as: Interleaved.self) == Interleaved())
    for shape in Everything().shapes {
        #expect(try decoded(try encoded(shape), as: Shape.self) == shape)
    }
    let dog = try decoded(try encoded(Dog(name: "Rex", tricks: ["sit"])), as: Dog.self)
    #expect(dog.name == "Rex" && dog.tricks == ["sit"])
}

@Test func aValueThatIsNoMapComesBackEqual() throws {
    #expect(try decoded(try encoded("text"), as: String.self) == "text")
    #expect(try decoded(try encoded(Int?.none), as: Int?.self) == nil)
    #expect(try decoded(try encoded(Color.green), as: Color.self) == .green)
    #expect(try decoded(try encoded([Int8]()), as: [Int8].self).isEmpty)
    #expect(try decoded(try encoded(Data()), as: Data.self).isEmpty)
    #expect(try decoded(try encoded(Set([3, 1, 2])), as: Set<Int>.self) == [1, 2, 3])
    struct Nothing: Codable {}
    #expect(try encoded(Nothing()) == [0xA0])
    _ = try decoded([0xA0], as: Nothing.self)
}

@Test func aNumberComesBackBitForBit() throws {
    let doubles = [
        0.0, -0.0, .nan, -.nan, .signalingNaN, .pi, .ulpOfOne, Double(bitPattern: 0x7FF8_0000_0000_0001),
    ]
    for double in doubles {
        #expect(try decoded(try encoded(double), as: Double.self).bitPattern == double.bitPattern)
        let date = Date(timeIntervalSinceReferenceDate: double)
        let back = try decoded(try encoded(date), as: Date.self)
        #expect(back.timeIntervalSinceReferenceDate.bitPattern == double.bitPattern)
    }
    for float in [Float.nan, .leastNonzeroMagnitude, -0.0, .pi] {
        #expect(try decoded(try encoded(float), as: Float.self).bitPattern == float.bitPattern)
    }
    for shift in 0..<64 {
        for number in [UInt64(1) << shift, (UInt64(1) << shift) - 1, ~(UInt64(1) << shift)] {
            #expect(try decoded(try encoded(number), as: UInt64.self) == number)
            let signed = Int64(bitPattern: number)
            #expect(try decoded(try encoded(signed), as: Int64.self) == signed)
        }
    }
}

@Test func equalValuesHaveEqualBytes() throws {
    var first = Set<String>(), second = Set<String>(minimumCapacity: 5000)
    var firstMap: [Int: String] = [:], secondMap = [Int: String](minimumCapacity: 3000)
    var firstPairs: [Date: Int] = [:], secondPairs = [Date: Int](minimumCapacity: 3000)
    for number in 0..<500 {
        first.insert("\(number)")
        firstMap[number] = "\(number)"
        firstPairs[Date(timeIntervalSinceReferenceDate: Double(number))] = number
    }
    for number in (0..<500).reversed() {
        second.insert("\(number)")
        secondMap[number] = "\(number)"
        secondPairs[Date(timeIntervalSinceReferenceDate: Double(number))] = number
    }
    #expect(Array(first) != Array(second), "the sets must iterate differently for this test to mean anything")
    #expect(try encoded(first) == encoded(second))
    #expect(try encoded(firstMap) == encoded(secondMap))
    #expect(try encoded(firstPairs) == encoded(secondPairs))
    #expect(try encoded(["bb": 1, "a": 2, "c": 3]) == bytes("a361610261630362626201"))
}

@Test func aModelThatGrewOrLostFieldsStillReads() throws {
    struct Old: Codable { var kept = 1, lost = ["x": [1, 2]], alsoKept = "t" }
    struct New: Codable, Equatable { var alsoKept: String, grown: Int?, kept: Int }
    #expect(try decoded(try encoded(Old()), as: New.self) == New(alsoKept: "t", grown: nil, kept: 1))
    struct Needy: Codable { var kept: Int, missing: Int }
    #expect(throws: DecodingError.self) { try decoded(try encoded(Old()), as: Needy.self) }
}

@Test func anErrorSaysWhereItIs() throws {
    struct Outer<Value: Codable>: Codable { var list: [[String: Value]] }
    let bytes = try encoded(Outer(list: [["a": 1], ["b": 300]]))
    do {
        _ = try decoded(bytes, as: Outer<UInt8>.self)
        Issue.record("300 is no UInt8")
    } catch DecodingError.typeMismatch(_, let context) {
        #expect(context.codingPath.map(\.stringValue) == ["list", "Index 1", "b"])
        #expect(context.debugDescription == "Wanted UInt8, found 300, which UInt8 cannot hold.")
    }
    do {
        _ = try decoded(bytes, as: Outer<String>.self)
        Issue.record("1 is no text")
    } catch DecodingError.typeMismatch(_, let context) {
        #expect(context.codingPath.map(\.stringValue) == ["list", "Index 0", "a"])
    }
    do {
        _ = try decoded([0xA1, 0x61, 0x78, 0xF6], as: [String: Int].self)
        Issue.record("null is no Int")
    } catch DecodingError.valueNotFound(_, let context) {
        #expect(context.codingPath.map(\.stringValue) == ["x"])
    }
}

@Test func whatHasNoFormIsRefusedWhenItIsWritten() throws {
    struct Twice: Encodable {
        enum CodingKeys: CodingKey { case key, other }
        func encode(to encoder: any Encoder) throws {
            var map = encoder.container(keyedBy: CodingKeys.self)
            try map.encode(1, forKey: .key)
            try map.encode(2, forKey: .other)
            try map.encode(3, forKey: .key)
        }
    }
    final class Cycle: Encodable {
        var next: Cycle?
        deinit { next = nil }
    }
    struct TwoKinds: Encodable {
        func encode(to encoder: any Encoder) throws {
            _ = encoder.container(keyedBy: CBORKey.self)
            _ = encoder.unkeyedContainer()
        }
    }
    struct Late: Encodable {
        struct Inner: Encodable {
            let outer: any Encoder
            func encode(to encoder: any Encoder) throws {
                var map = encoder.container(keyedBy: CBORKey.self)
                try map.encode(1, forKey: CBORKey(index: 1))
                var outer = outer.unkeyedContainer()
                try outer.encode(1)
            }
        }
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(Inner(outer: encoder))
        }
    }
    let cycle = Cycle()
    cycle.next = cycle
    defer { cycle.next = nil }
    #expect(throws: EncodingError.self) { try encoded(Twice()) }
    #expect(throws: EncodingError.self) { try encoded(cycle) }
    #expect(throws: EncodingError.self) { try encoded(TwoKinds()) }
    #expect(throws: EncodingError.self) { try encoded(Late()) }
}

@Test func aValueThatFailedToEncodeLeavesNoTraceInItsParent() throws {
    struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws {
            var map = encoder.container(keyedBy: CBORKey.self)
            try map.encode("half", forKey: CBORKey(index: 1))
            throw CancellationError()
        }
    }
    struct Either: Encodable {
        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            try? single.encode(Failing())
            try single.encode(2)
        }
    }
    struct Forgiving: Encodable {
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            var map = list.nestedContainer(keyedBy: CBORKey.self)
            try? map.encode(Failing(), forKey: CBORKey.superclass)
            try map.encode(1, forKey: CBORKey.superclass)
            try? list.encode(Failing())
            try list.encode(Either())
        }
    }
    #expect(try encoded(Forgiving()) == bytes("82a16573757065720102"))
}

@Test func aDecoderKeptAfterTheEndReadsNothing() throws {
    final class Keeper: Decodable {
        let map: KeyedDecodingContainer<CBORKey>
        init(from decoder: any Decoder) throws { map = try decoder.container(keyedBy: CBORKey.self) }
    }
    let keeper = try decoded(bytes("a16161187b"), as: Keeper.self)
    let key = try #require(CBORKey(stringValue: "a"))
    #expect(throws: DecodingError.self) { try keeper.map.decode(Int.self, forKey: key) }
    #expect(keeper.map.allKeys.count <= 1)
}

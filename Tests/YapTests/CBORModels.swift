import Foundation

@testable import Yap

/// The shape that the project's figures are taken with: ten fields of the usual types.
struct Note: Codable, Equatable {
    var identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var title = "Pick up eggs"
    var body = "Two dozen, from the farm, and écu à rendre 🥚"
    var isDone = false
    var priority = -3
    var count: UInt64 = .max
    var ratio = 0.1
    var created = Date(timeIntervalSinceReferenceDate: 801_234_567.123456)
    var tags = ["home", "food"]
    var parent: String?
}

enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case polygon([Corner], closed: Bool)
    indirect case group(Shape, Shape)
}

struct Corner: Codable, Equatable {
    var x: Int32
    var y: Float
}

enum Color: String, Codable, CodingKeyRepresentable {
    case red, green, blue
}

/// Every kind of field that a model may have.
struct Everything: Codable, Equatable {
    var int8 = Int8.min
    var int16 = Int16.min
    var int32 = Int32.min
    var int64 = Int64.min
    var int = Int.max
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64.max
    var uint = UInt(7)
    var bool = true
    var float = Float.greatestFiniteMagnitude
    var double = Double.leastNonzeroMagnitude
    var infinity = -Double.infinity
    var text = String(repeating: "ü", count: 300)
    var empty = ""
    var data = Data([0, 255, 1])
    var bytes = allBytes
    var date = Date(timeIntervalSinceReferenceDate: 1.0 / 3)
    var uuid = UUID(uuid: (255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    var url = URL(string: "https://example.com/a%20b?q=1#f")
    var relative = URL(string: "child", relativeTo: URL(string: "https://example.com/parent/"))
    var decimal = Decimal(string: "-12345678901234567890.123456789")
    var absent: Int?
    var present: Int? = 5
    var nested: Corner? = Corner(x: -1, y: 0.5)
    var holes: [Int?] = [1, nil, 3]
    var doubled: Int?? = .some(.some(1))
    var byName = ["a": [1, 2], "bb": [], "é": [3]]
    var byNumber = [3: "three", -1: "minus one", 20: "twenty"]
    var byCorner = [Shape.circle(radius: 1).description: Corner(x: 1, y: 1)]
    var byColor: [Color: Int] = [.red: 1, .blue: 2]
    var byDate = [
        Date(timeIntervalSinceReferenceDate: 5): "five", Date(timeIntervalSinceReferenceDate: 4): "four",
    ]
    var set: Set<String> = ["x", "y", "z"]
    var range = 1..<5
    var shapes: [Shape] = [
        .point, .circle(radius: 2), .polygon([Corner(x: 1, y: 2)], closed: true), .group(.point, .point),
    ]
    var many = manyKeys
    var long = longArray

    // Made once: each decoding begins with these values.
    private static let allBytes: [UInt8] = Array(0...255)
    private static let manyKeys = Dictionary(uniqueKeysWithValues: (0..<300).map { ("key \($0)", $0) })
    private static let longArray = Array(0..<70_000)
}

extension Shape: CustomStringConvertible {
    var description: String {
        switch self {
        case .point: "point"
        case .circle: "circle"
        case .polygon: "polygon"
        case .group: "group"
        }
    }
}

class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
}

final class Dog: Animal {
    var tricks: [String]

    init(name: String, tricks: [String]) {
        self.tricks = tricks
        super.init(name: name)
    }

    private enum CodingKeys: CodingKey { case tricks }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tricks = try container.decode([String].self, forKey: .tricks)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        // The superclass's place is opened first and filled last.
        let superEncoder = container.superEncoder()
        try container.encode(tricks, forKey: .tricks)
        try super.encode(to: superEncoder)
    }
}

/// Opens containers within containers and fills them in another order than it opened them.
struct Interleaved: Codable, Equatable {
    var a = 1, b = [2, 3], c = ["x": 4], d = Corner(x: 5, y: 6)

    enum CodingKeys: CodingKey { case list, first, second, last }
    enum Inner: CodingKey { case x, more }

    init() {}

    func encode(to encoder: any Encoder) throws {
        var map = encoder.container(keyedBy: CodingKeys.self)
        var list = map.nestedUnkeyedContainer(forKey: .list)
        var first = map.nestedContainer(keyedBy: Inner.self, forKey: .first)
        try map.encode(d, forKey: .last)
        var inner = first.nestedUnkeyedContainer(forKey: .more)
        try list.encode(a)
        try first.encode(c, forKey: .x)
        try inner.encode(b[0])
        try b.encode(to: map.superEncoder(forKey: .second))
        try inner.encode(b[1])
        var innermost = list.nestedContainer(keyedBy: Inner.self)
        try innermost.encodeNil(forKey: .x)
        try list.encodeNil()
        try (0..<30).map { $0 }.encode(to: list.superEncoder())
    }

    init(from decoder: any Decoder) throws {
        let map = try decoder.container(keyedBy: CodingKeys.self)
        var list = try map.nestedUnkeyedContainer(forKey: .list)
        let first = try map.nestedContainer(keyedBy: Inner.self, forKey: .first)
        a = try list.decode(Int.self)
        let innermost = try list.nestedContainer(keyedBy: Inner.self)
        guard try innermost.decodeNil(forKey: .x), try list.decodeNil(),
            try list.decode([Int].self).count == 30,
            list.isAtEnd
        else { throw DecodingError.dataCorruptedError(in: list, debugDescription: "wrong list") }
        c = try first.decode([String: Int].self, forKey: .x)
        var inner = try first.nestedUnkeyedContainer(forKey: .more)
        b = [try inner.decode(Int.self), try inner.decode(Int.self)]
        guard try [Int](from: map.superDecoder(forKey: .second)) == b else {
            throw DecodingError.dataCorruptedError(forKey: .second, in: map, debugDescription: "wrong list")
        }
        d = try map.decode(Corner.self, forKey: .last)
    }
}

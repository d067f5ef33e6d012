/// A JSON text in its parts, right or wrong: an object's members have an order, and a key may come twice.
indirect enum JSONTree: Sendable {
    /// Anything as it stands in the text: a number, `true`, or what no JSON has.
    case raw(String)
    case text(String)
    case list([JSONTree])
    case object([Member])

    struct Member: Sendable {
        var key: String
        var value: JSONTree
    }

    /// The text in bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// How many values there are, this one among them.
    var count: Int {
        switch self {
        case .raw, .text: 1
        case .list(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        }
    }

    /// Changes the value with the number `index`, counted from the outermost inwards.
    mutating func change(at index: Int, _ body: (inout JSONTree) -> Void) {
        var left = index
        _ = change(&left, body)
    }

    private mutating func change(_ left: inout Int, _ body: (inout JSONTree) -> Void) -> Bool {
        guard left > 0 else {
            body(&self)
            return true
        }
        left -= 1
        switch self {
        case .raw, .text: return false
        case .list(var elements):
            for place in elements.indices where elements[place].change(&left, body) {
                self = .list(elements)
                return true
            }
        case .object(var members):
            for place in members.indices where members[place].value.change(&left, body) {
                self = .object(members)
                return true
            }
        }
        return false
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .raw(let raw): bytes += raw.utf8
        case .text(let text): Self.write(text, to: &bytes)
        case .list(let elements):
            bytes.append(UInt8(ascii: "["))
            for (place, element) in elements.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (place, member) in members.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int) { self = .raw("\(value)") }
    init(booleanLiteral value: Bool) { self = .raw("\(value)") }
    init(arrayLiteral elements: JSONTree...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, JSONTree)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }

    /// The same object with one more member.
    func with(_ key: String, _ value: JSONTree?) -> JSONTree {
        guard case .object(let members) = self, let value else { return self }
        return .object(members + [Member(key: key, value: value)])
    }
}

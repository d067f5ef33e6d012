internal import CloudKit

/// The colour of an item: a type that neither a todo.txt line nor a record knows, so both get it as text.
public struct TodoColor: Codable, Sendable, Hashable {
    /// How much red, from 0 to 255.
    public var red: UInt8
    /// How much green, from 0 to 255.
    public var green: UInt8
    /// How much blue, from 0 to 255.
    public var blue: UInt8

    /// Makes a colour from its parts, each from 0 to 255.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// The colours that have a name.
    public static let names: [(name: String, color: TodoColor)] = [
        ("red", TodoColor(red: 0xCC, green: 0x22, blue: 0x22)),
        ("orange", TodoColor(red: 0xEE, green: 0x88, blue: 0x00)),
        ("yellow", TodoColor(red: 0xEE, green: 0xCC, blue: 0x00)),
        ("green", TodoColor(red: 0x22, green: 0x99, blue: 0x33)),
        ("blue", TodoColor(red: 0x22, green: 0x66, blue: 0xCC)),
        ("purple", TodoColor(red: 0x88, green: 0x33, blue: 0xAA)),
    ]

    /// The colour as `#rrggbb`, with small letters.
    public var text: String {
        "#"
            + [red, green, blue].map { part in
                let digits = String(part, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }

    /// The colour that is written as `text` gives it, and in no other way; nil for anything else.
    public init?(text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 7, digits[0] == UInt8(ascii: "#") else { return nil }
        var parts: [UInt8] = []
        for digit in digits.dropFirst() {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): parts.append(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): parts.append(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        self.init(
            red: parts[0] << 4 | parts[1], green: parts[2] << 4 | parts[3], blue: parts[4] << 4 | parts[5])
    }

    /// The colour that a person names: one of `names`, or `#rrggbb` in letters of any size.
    public init?(named text: String) {
        if let named = Self.names.first(where: { $0.name == text.lowercased() }) {
            self = named.color
        } else {
            self.init(text: text.lowercased())
        }
    }

    /// What a record holds, as the property: none is no colour, and what is none of ours changes nothing.
    static let fromCloud: @Sendable ((any CKRecordValueProtocol)?) -> TodoColor?? = { value in
        guard let value else { return .some(nil) }
        guard let text = value as? String, let color = TodoColor(text: text) else { return nil }
        return .some(color)
    }
}

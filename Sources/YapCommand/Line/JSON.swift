/// JSON on its way out: objects keep the order in which their keys are written, so that output is the same each time.
indirect enum JSON {
    case null
    case bool(Bool)
    case integer(Int64)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// Bytes that are JSON already.
    case bytes([UInt8])

    static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.0)):\($0.1.text)" }.joined(separator: ",") + "}"
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

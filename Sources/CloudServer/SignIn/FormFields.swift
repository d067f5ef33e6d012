/// The fields of a form as browsers send them: `name=value&name=value`, with `+` for a space and `%XX`.
struct FormFields {
    static let fieldsMax = 32

    private var fields: [(name: String, value: String)] = []

    /// Nil for bytes that are no form: a bad escape, or text that isn't UTF-8.
    init?(_ bytes: [UInt8]) {
        for part in bytes.split(separator: 0x26) {
            guard fields.count < Self.fieldsMax else { return nil }
            let pair = part.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count > 1 ? pair[1] : [])
            else { return nil }
            fields.append((name, value))
        }
    }

    /// The value of the only field with this name; nil when there is none, or more than one.
    func value(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case 0x2B: decoded.append(0x20)
            case 0x25:
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

/// Text in an address: all bytes but letters, digits and `-._~` as `%XX`, once.
enum PercentEncoding {
    static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
            default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

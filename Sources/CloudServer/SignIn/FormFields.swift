import System

/// The fields of a form in the encoding of browsers: `name=value&name=value`, with `+` for a space and `%XX`.
struct FormFields {
    static let fieldsMax = 32

    private var fields: [(name: String, value: String)] = []

    /// Returns nil for an invalid form: a bad escape, or text that isn't UTF-8.
    init?(_ bytes: [UInt8]) {
        for part in bytes.split(separator: 0x26) {
            guard fields.count < Self.fieldsMax else { return nil }
            let pair = part.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count > 1 ? pair[1] : [])
            else { return nil }
            fields.append((name, value))
        }
    }

    /// Returns the value of the only field with this name, or nil if there is none or more than one.
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
                guard let high = rest.popFirst().flatMap(Hex.value),
                    let low = rest.popFirst().flatMap(Hex.value)
                else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

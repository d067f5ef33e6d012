/// Bytes as hexadecimal text.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lower-case digits for each byte.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        var text = [UInt8]()
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text, or nil if it isn't pairs of hexadecimal digits, in either case.
    public static func bytes(_ text: String) -> [UInt8]? {
        let symbols = Array(text.utf8)
        guard symbols.count.isMultiple(of: 2) else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(symbols.count / 2)
        for index in stride(from: 0, to: symbols.count, by: 2) {
            guard let high = value(symbols[index]), let low = value(symbols[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns the value of a hexadecimal digit in either case, or nil.
    package static func value(_ symbol: UInt8) -> UInt8? {
        switch symbol {
        case 0x30...0x39: symbol - 0x30
        case 0x41...0x46: symbol - 0x41 + 10
        case 0x61...0x66: symbol - 0x61 + 10
        default: nil
        }
    }
}

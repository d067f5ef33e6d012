import COpenSSL

/// Random bytes from OpenSSL's cryptographic generator.
public enum RandomBytes {
    /// Returns random bytes.
    ///
    /// - Parameter count: Number of bytes.
    /// - Throws: `CryptoError` if the system has no randomness.
    public static func make(count: Int) throws -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max), "a count of random bytes")
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_priv_bytes(&bytes, Int32(count)) == 1 else { throw CryptoError.last("random bytes") }
        return bytes
    }
}

/// Comparison in constant time.
public enum ConstantTime {
    /// Returns true if both are equal. The time depends on the lengths only.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}

/// Bytes as lower-case hexadecimal text.
public enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns two digits for each byte.
    public static func text(_ bytes: [UInt8]) -> String {
        var text = [UInt8]()
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of `text`, or nil if it isn't pairs of hexadecimal digits, in either case.
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

    private static func value(_ symbol: UInt8) -> UInt8? {
        switch symbol {
        case 0x30...0x39: symbol - 0x30
        case 0x41...0x46: symbol - 0x41 + 10
        case 0x61...0x66: symbol - 0x61 + 10
        default: nil
        }
    }
}

/// Base64 without padding, as in the text of a password hash.
enum Base64 {
    private static let symbols = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text = [UInt8]()
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = UInt32(0)
            for (offset, byte) in group.enumerated() { word |= UInt32(byte) << UInt32(16 - 8 * offset) }
            for digit in 0...group.count { text.append(symbols[Int(word >> UInt32(18 - 6 * digit) & 0x3F)]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = [UInt8]()
        var word = UInt32(0)
        var bits = 0
        for symbol in text.utf8 {
            guard let value = symbols.firstIndex(of: symbol) else { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
                word &= (1 << UInt32(bits)) - 1
            }
        }
        // The remaining bits must be fewer than one symbol, and zero.
        return bits < 6 && word == 0 ? bytes : nil
    }
}

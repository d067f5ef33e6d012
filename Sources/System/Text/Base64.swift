/// Base64 of RFC 4648 with padding. Decoding is strict: each byte sequence has exactly one text.
package enum Base64 {
    private static let symbols = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let invalid: UInt8 = 0xFF
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, symbol) in symbols.enumerated() { table[Int(symbol)] = UInt8(value) }
        return table
    }()

    /// Returns the text of `bytes`.
    package static func encoded(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: encodedCount(bytes.count)) { buffer in
            bytes.withUnsafeBufferPointer { encode($0, into: buffer) }
            return encodedCount(bytes.count)
        }
    }

    /// Returns the bytes of a text, or nil if it isn't base64.
    package static func decoded(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decoded($0) }
    }

    /// Returns the text of `bytes` without padding, as password hashes have it.
    package static func unpadded(_ bytes: [UInt8]) -> String {
        let text = encoded(bytes)
        return String(text.prefix { $0 != "=" })
    }

    /// Returns the bytes of a text without padding, or nil if it isn't base64.
    package static func decoded(unpadded text: some StringProtocol) -> [UInt8]? {
        guard text.last != "=" else { return nil }
        return decoded(String(text) + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }

    /// Returns the length of the text for a number of bytes.
    package static func encodedCount(_ byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Writes the text of `bytes` to the start of `output`, which must have space for `encodedCount`.
    package static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) {
        symbols.withUnsafeBufferPointer { symbols in
            var read = 0
            var written = 0
            while read + 3 <= bytes.count {
                let group = Int(bytes[read]) << 16 | Int(bytes[read + 1]) << 8 | Int(bytes[read + 2])
                output[written] = symbols[group >> 18]
                output[written + 1] = symbols[group >> 12 & 63]
                output[written + 2] = symbols[group >> 6 & 63]
                output[written + 3] = symbols[group & 63]
                read += 3
                written += 4
            }
            let rest = bytes.count - read
            guard rest > 0 else { return }
            let group = Int(bytes[read]) << 16 | (rest == 2 ? Int(bytes[read + 1]) << 8 : 0)
            output[written] = symbols[group >> 18]
            output[written + 1] = symbols[group >> 12 & 63]
            output[written + 2] = rest == 2 ? symbols[group >> 6 & 63] : UInt8(ascii: "=")
            output[written + 3] = UInt8(ascii: "=")
        }
    }

    /// Returns the bytes of a text, or nil if it isn't base64: it has another symbol, no padding, or unused
    /// bits that aren't 0.
    package static func decoded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return [] }
        let padding = last != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        let count = text.count / 4 * 3 - padding
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, initializedCount in
            isValid = decode(text.prefix(text.count - padding), into: output)
            initializedCount = isValid ? count : 0
        }
        return isValid ? bytes : nil
    }

    private static func decode(
        _ symbols: Slice<UnsafeBufferPointer<UInt8>>, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let text = UnsafeBufferPointer(rebasing: symbols)
        return values.withUnsafeBufferPointer { values in
            var group: UInt32 = 0
            var bitCount: UInt32 = 0
            var written = 0
            for symbol in text {
                let value = values[Int(symbol)]
                guard value != invalid else { return false }
                group = group << 6 | UInt32(value)
                bitCount += 6
                if bitCount >= 8 {
                    bitCount -= 8
                    output[written] = UInt8(truncatingIfNeeded: group >> bitCount)
                    written += 1
                }
            }
            return group & (1 << bitCount - 1) == 0
        }
    }
}

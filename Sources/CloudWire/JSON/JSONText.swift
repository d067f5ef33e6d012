/// The content of a text token.
enum JSONText {
    /// Returns the text of a token that the tokenizer has checked.
    static func string(_ token: JSONToken, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let raw = UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.start + token.byteCount)])
        return token.hasEscapes
            ? String(decoding: unescaped(raw), as: UTF8.self) : String(decoding: raw, as: UTF8.self)
    }

    /// Returns the content of a text with escapes. The escapes were checked before.
    static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(raw.count)
        var position = 0
        while position < raw.count {
            let byte = raw[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            let escape = raw[position]
            position += 1
            switch escape {
            case UInt8(ascii: "b"): content.append(0x08)
            case UInt8(ascii: "f"): content.append(0x0C)
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "u"): appendScalar(of: raw, at: &position, to: &content)
            default: content.append(escape)
            }
        }
        return content
    }

    private static func appendScalar(
        of raw: UnsafeBufferPointer<UInt8>, at position: inout Int, to content: inout [UInt8]
    ) {
        var value = codeUnit(of: raw, at: &position)
        if value & 0xFC00 == 0xD800 {
            position += 2
            value = 0x10000 + (value & 0x3FF) << 10 + codeUnit(of: raw, at: &position) & 0x3FF
        }
        guard let scalar = Unicode.Scalar(value) else { return }
        content.append(contentsOf: Character(scalar).utf8)
    }

    private static func codeUnit(of raw: UnsafeBufferPointer<UInt8>, at position: inout Int) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            unit = unit << 4 | UInt32(hexadecimalValue(raw[position]) ?? 0)
            position += 1
        }
        return unit
    }

    static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the position of the first byte that must be escaped in a text (a quote, a backslash, a control
    /// byte), or the end. Checks eight bytes at a time.
    static func plainEnd(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, stopsAtNonASCII: Bool = false
    ) -> Int {
        guard let base = UnsafeRawPointer(bytes.baseAddress) else { return start }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var position = start
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // The lowest high bit that is set here belongs to the first byte that must be escaped.
            let special =
                ((word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes
                    | (backslashes &- ones) & ~backslashes | (stopsAtNonASCII ? word : 0)) & highs
            guard special == 0 else { return position + special.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || (stopsAtNonASCII && byte >= 0x80) { break }
            position += 1
        }
        return position
    }
}

/// Why bytes can't be read as the requested value. Becomes a `DecodingError` where the coding path is known.
enum CBORFault: Error {
    /// The bytes at `offset` violate the format.
    case malformed(offset: Int, reason: String)
    /// The value has another kind, or is a number that the type can't hold exactly.
    case mismatch(found: String)
    /// The value is null.
    case null
}

/// The bytes of one value while they are read. Every read is bounds-checked.
final class CBORInput {
    /// A major type and its argument: RFC 8949, section 3.
    struct Head {
        var major: UInt8
        /// The low five bits of the first byte.
        var info: UInt8
        var argument: UInt64
        /// Where the head ends.
        var end: Int
    }

    @exclusivity(unchecked) private(set) var bytes: UnsafeRawBufferPointer

    /// Whether all bytes have been walked and found well-formed.
    @exclusivity(unchecked) private var isWhole = false

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Drops the bytes when their owner takes them back, so that a decoder that a model kept can't read them.
    func invalidate() {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    // MARK: Heads

    @inline(__always)
    func head(at offset: Int) throws(CBORFault) -> Head {
        guard offset < bytes.count else { throw truncated(at: offset) }
        let first = byte(at: offset)
        let info = first & 0x1F
        if info < 24 {
            return Head(major: first >> 5, info: info, argument: UInt64(info), end: offset + 1)
        }
        return try longHead(at: offset, major: first >> 5, info: info)
    }

    private func longHead(at offset: Int, major: UInt8, info: UInt8) throws(CBORFault) -> Head {
        guard info < 28 else {
            let reason = info == 31 ? "lengths must be definite" : "reserved additional information \(info)"
            throw .malformed(offset: offset, reason: reason)
        }
        let size = 1 << Int(info - 24)
        guard offset + 1 + size <= bytes.count else { throw truncated(at: bytes.count) }
        let argument: UInt64 =
            switch size {
            case 1: UInt64(byte(at: offset + 1))
            case 2: UInt64(word(UInt16.self, at: offset + 1))
            case 4: UInt64(word(UInt32.self, at: offset + 1))
            default: word(UInt64.self, at: offset + 1)
            }
        return Head(major: major, info: info, argument: argument, end: offset + 1 + size)
    }

    @inline(__always)
    private func byte(at offset: Int) -> UInt8 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    private func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at offset: Int) -> Word {
        Word(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Word.self))
    }

    // MARK: Well-formedness

    /// Rejects bytes that aren't exactly one well-formed item, unless that is known already.
    func checkWhole() throws(CBORFault) {
        if !isWhole { try checkEnd(try end(ofItemAt: 0)) }
    }

    /// Rejects an outermost item that ends before the bytes do.
    func checkEnd(_ end: Int) throws(CBORFault) {
        guard end == bytes.count else {
            throw .malformed(offset: end, reason: "\(bytes.count - end) bytes after the value")
        }
        isWhole = true
    }

    func isMap(at offset: Int) -> Bool {
        offset < bytes.count && byte(at: offset) >> 5 == 5
    }

    /// Returns the end of the item at `offset`. All items within it are well-formed.
    func end(ofItemAt offset: Int, depth: Int = 0) throws(CBORFault) -> Int {
        let head = try head(at: offset)
        switch head.major {
        case 0, 1:
            return head.end
        case 2, 3:
            return try range(of: head, at: offset).upperBound
        case 4, 5:
            guard depth < CBORLimits.depthMax else {
                throw .malformed(offset: offset, reason: "more than \(CBORLimits.depthMax) levels")
            }
            var end = head.end
            for _ in 0..<(try items(of: head, at: offset)) {
                end = try self.end(ofItemAt: end, depth: depth + 1)
            }
            return end
        case 6:
            throw .malformed(offset: offset, reason: "tag \(head.argument): tags are not part of this format")
        default:
            guard head.info != 24 || head.argument >= 32 else {
                throw .malformed(offset: offset, reason: "a simple value in two bytes that takes one")
            }
            return head.end
        }
    }

    /// Returns the number of items in an array, or of keys and values in a map, which can't exceed the remaining
    /// bytes.
    private func items(of head: Head, at offset: Int) throws(CBORFault) -> Int {
        let left = bytes.count - head.end
        let each = head.major == 5 ? 2 : 1
        guard head.argument <= UInt64(left / each) else {
            throw .malformed(offset: offset, reason: "\(head.argument) items in \(left) bytes")
        }
        return Int(head.argument) * each
    }

    @inline(__always)
    private func range(of head: Head, at offset: Int) throws(CBORFault) -> Range<Int> {
        guard head.argument <= UInt64(bytes.count - head.end) else {
            throw .malformed(offset: offset, reason: "\(head.argument) bytes of \(bytes.count - head.end)")
        }
        return head.end..<head.end + Int(head.argument)
    }

    // MARK: Items

    @inline(__always)
    func isNull(at offset: Int) -> Bool {
        offset < bytes.count && byte(at: offset) == 0xF6
    }

    func bool(at offset: Int) throws(CBORFault) -> Bool {
        let head = try head(at: offset)
        guard head.major == 7, head.info == 20 || head.info == 21 else { throw mismatch(head) }
        return head.info == 21
    }

    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) throws(CBORFault) -> Value {
        let head = try head(at: offset)
        if head.major == 0, let value = Value(exactly: head.argument) { return value }
        if head.major == 1, let positive = Int64(exactly: head.argument),
            let value = Value(exactly: ~positive)
        {
            return value
        }
        guard head.major > 1 else {
            throw .mismatch(
                found: "\(head.major == 0 ? "" : "-1 - ")\(head.argument), which \(type) cannot hold")
        }
        throw mismatch(head)
    }

    /// Returns a floating-point number of any width, or an integer, that `Value` can hold exactly.
    @inline(__always)
    func float<Value: BinaryFloatingPoint>(_ type: Value.Type, at offset: Int) throws(CBORFault) -> Value {
        let head = try head(at: offset)
        let value: Value?
        switch (head.major, head.info) {
        case (7, 27):
            let double = Double(bitPattern: head.argument)
            value = double.isNaN ? Value(double) : Value(exactly: double)
        case (7, 26):
            value = Value(Float(bitPattern: UInt32(truncatingIfNeeded: head.argument)))
        case (7, 25):
            value = Value(Self.half(UInt16(truncatingIfNeeded: head.argument)))
        case (0, _):
            value = Value(exactly: head.argument)
        case (1, _):
            value = Int64(exactly: head.argument).flatMap { Value(exactly: ~$0) }
        default:
            throw mismatch(head)
        }
        guard let value else { throw .mismatch(found: "a number that \(type) cannot hold exactly") }
        return value
    }

    /// `Float16` does not exist on every platform.
    private static func half(_ bits: UInt16) -> Float {
        let sign: Float = bits & 0x8000 == 0 ? 1 : -1
        let exponent = Int(bits >> 10 & 0x1F)
        let fraction = Float(bits & 0x3FF)
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * Float(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
        }
    }

    func text(at offset: Int) throws(CBORFault) -> String {
        let range = try contents(at: offset, major: 3)
        let utf8 = UnsafeRawBufferPointer(rebasing: bytes[range])
        // Twice as fast as validation, for most texts.
        if Self.isASCII(utf8) { return String(decoding: utf8, as: UTF8.self) }
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw .malformed(offset: range.lowerBound, reason: "invalid UTF-8")
        }
        return text
    }

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                return false
            }
            offset += 8
        }
        while offset < bytes.count {
            if bytes[offset] >= 0x80 { return false }
            offset += 1
        }
        return true
    }

    /// Returns the range of the contents of the text (`major` 3) or byte string (2) at `offset`.
    @inline(__always)
    func contents(at offset: Int, major: UInt8) throws(CBORFault) -> Range<Int> {
        let head = try head(at: offset)
        guard head.major == major else { throw mismatch(head) }
        return try range(of: head, at: offset)
    }

    /// Returns the number of items of the array (`major` 4), or of pairs of the map (5), and the offset of the first.
    func container(at offset: Int, major: UInt8) throws(CBORFault) -> (count: Int, start: Int) {
        let head = try head(at: offset)
        guard head.major == major else { throw mismatch(head) }
        return (try items(of: head, at: offset) / (major == 5 ? 2 : 1), head.end)
    }

    // MARK: Faults

    private func truncated(at offset: Int) -> CBORFault {
        .malformed(offset: offset, reason: "the bytes end within a value")
    }

    private func mismatch(_ head: Head) -> CBORFault {
        let simple: [UInt8: String] = [
            20: "a Bool", 21: "a Bool", 25: "a number", 26: "a number", 27: "a number",
        ]
        let found = ["an integer", "an integer", "bytes", "a text", "an array", "a map", "a tag"]
        if head.major < 7 { return .mismatch(found: found[Int(head.major)]) }
        return head.info == 22 ? .null : .mismatch(found: simple[head.info] ?? "a simple value")
    }
}

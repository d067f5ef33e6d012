/// Reads what `BinaryWriter` wrote. Rejects everything else: incomplete bytes, numbers that aren't in their
/// shortest form, and text that isn't UTF-8.
package struct BinaryReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Returns `bytes` without the checksum at their end, or nil if the checksum is wrong.
    package static func checkedContent(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard bytes.count >= 4 else { return nil }
        let content = bytes.dropLast(4)
        var sum: UInt32 = 0
        for byte in bytes.suffix(4).reversed() { sum = sum << 8 | UInt32(byte) }
        return Checksum.crc32(content) == sum ? content : nil
    }

    package var remainingCount: Int { bytes.endIndex - position }

    package func error(_ reason: String) -> BinaryError {
        BinaryError(reason: reason, byteOffset: position - bytes.startIndex)
    }

    package func expectEnd() throws(BinaryError) {
        guard remainingCount == 0 else { throw error("bytes after the end") }
    }

    package mutating func byte() throws(BinaryError) -> UInt8 {
        guard position < bytes.endIndex else { throw error("the end is missing") }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func unsigned() throws(BinaryError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw error("a number of more than 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                guard next != 0 || shift == 0 else {
                    throw error("a number that is not in its shortest form")
                }
                return value
            }
            shift += 7
        }
    }

    package mutating func signed() throws(BinaryError) -> Int64 {
        let value = try unsigned()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func fixed64() throws(BinaryError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try take(8).reversed() { value = value << 8 | UInt64(byte) }
        return value
    }

    /// Reads the number of the following items. Each item has at least one byte, so a number greater than the
    /// number of remaining bytes is an error.
    package mutating func count() throws(BinaryError) -> Int {
        let value = try unsigned()
        guard value <= UInt64(remainingCount) else { throw error("a length beyond the end") }
        return Int(value)
    }

    package mutating func blob() throws(BinaryError) -> [UInt8] { Array(try take(count())) }

    /// Reads the bytes of a text, which may not be UTF-8.
    mutating func textBytes() throws(BinaryError) -> ArraySlice<UInt8> { try take(count()) }

    package mutating func text() throws(BinaryError) -> String {
        let utf8 = try take(count())
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw error("text that is not UTF-8")
        }
        return text
    }

    private mutating func take(_ count: Int) throws(BinaryError) -> ArraySlice<UInt8> {
        guard count <= remainingCount else { throw error("the end is missing") }
        defer { position += count }
        return bytes[position..<position + count]
    }
}

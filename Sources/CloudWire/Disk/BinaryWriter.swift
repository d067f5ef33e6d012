/// Appends values in our binary format: LEB128 numbers in their shortest form, and fixed-size numbers in
/// little-endian order.
package struct BinaryWriter {
    package private(set) var bytes: [UInt8] = []

    /// Makes an empty writer.
    package init() {}

    package mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func unsigned(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed number with zigzag encoding, so that small negative numbers are short too.
    package mutating func signed(_ value: Int64) {
        unsigned(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    package mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func fixed32(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func blob(_ value: [UInt8]) {
        unsigned(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            unsigned(UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    package mutating func appendChecksum() { fixed32(Checksum.crc32(bytes[...])) }
}

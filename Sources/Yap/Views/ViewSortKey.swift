/// Bytes in the order of the values that they encode, so that SQLite sorts a view's rows without calling the app's
/// code.
///
/// Each value begins with a byte for its storage class, in SQLite's order, and is self-delimiting, so that a shorter
/// text precedes a longer one with the same beginning. The bytes of a descending value are inverted.
struct ViewSortKey {
    /// Maximum bytes of a text or blob that are compared. Longer values with the same beginning are equal.
    static let valueBytesMax = 512

    private enum Class {
        static let null: UInt8 = 0x10
        static let integer: UInt8 = 0x20
        static let real: UInt8 = 0x21
        static let text: UInt8 = 0x30
        static let blob: UInt8 = 0x40
    }

    private(set) var bytes: [UInt8] = []

    /// Adds the next value to sort by.
    mutating func append(_ value: YapDatabaseColumnValue, isDescending: Bool) {
        let start = bytes.count
        switch value {
        case .null: bytes.append(Class.null)
        case .integer(let number):
            bytes.append(Class.integer)
            append(UInt64(bitPattern: number) ^ (1 << 63))
        case .real(let number):
            bytes.append(Class.real)
            append(Self.ordered(number))
        case .text(let text):
            bytes.append(Class.text)
            append(escaped: text.utf8.prefix(Self.valueBytesMax))
        case .blob(let blob):
            bytes.append(Class.blob)
            append(escaped: blob.prefix(Self.valueBytesMax))
        }
        guard isDescending else { return }
        for place in start..<bytes.count { bytes[place] = ~bytes[place] }
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Returns a number in the order of the floating-point number. The bits of IEEE 754 have this order except for
    /// the sign.
    private static func ordered(_ number: Double) -> UInt64 {
        let bits = (number == 0 ? 0 : number).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// 0 ends the value, so 0 and 1 within it are written as two bytes.
    private mutating func append(escaped value: some Sequence<UInt8>) {
        for byte in value {
            if byte > 1 {
                bytes.append(byte)
            } else {
                bytes.append(1)
                bytes.append(byte + 1)
            }
        }
        bytes.append(0)
    }
}

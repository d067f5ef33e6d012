#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A key that no model declares: an array's position, or the key of a superclass.
struct CBORKey: CodingKey {
    static let superclass = CBORKey(text: "super", number: nil)

    let text: String
    let number: Int?

    private init(text: String, number: Int?) {
        self.text = text
        self.number = number
    }

    init(index: Int) {
        self.init(text: "Index \(index)", number: index)
    }

    init?(stringValue: String) {
        self.init(text: stringValue, number: nil)
    }

    init?(intValue: Int) {
        self.init(text: String(intValue), number: intValue)
    }

    var stringValue: String { text }
    var intValue: Int? { number }

    /// Returns true if two keys of the same length are equal.
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard let first = a.baseAddress, let second = b.baseAddress, a.count == b.count else {
            return a.isEmpty && b.isEmpty
        }
        return memcmp(first, second, a.count) == 0
    }

    /// Returns 32 bits of a key's bytes. Keys with different tags differ; keys with equal tags must be compared.
    static func tag(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let count = bytes.count
        var first: UInt64 = 0
        var last: UInt64 = 0
        if count >= 8 {
            first = bytes.loadUnaligned(as: UInt64.self)
            last = bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        } else if count >= 4 {
            first = UInt64(bytes.loadUnaligned(as: UInt32.self))
            last = UInt64(bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        } else {
            for byte in bytes { first = first << 8 | UInt64(byte) }
        }
        let mixed = (first ^ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
        let word = (mixed ^ (last &+ mixed >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return UInt32(truncatingIfNeeded: word >> 32)
    }
}

/// A collection of the standard library with an order of iteration that differs from run to run.
///
/// Its encoded entries are sorted, so that equal values have equal bytes.
protocol CBORUnorderedCollection {
    /// Number of array items in one entry: a set's element, or a dictionary's key and value.
    static var itemsPerEntry: Int { get }
}

extension Set: CBORUnorderedCollection {
    static var itemsPerEntry: Int { 1 }
}

extension Dictionary: CBORUnorderedCollection {
    static var itemsPerEntry: Int { 2 }
}

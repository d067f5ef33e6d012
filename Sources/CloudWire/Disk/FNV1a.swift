/// FNV-1a, a small 64-bit hash for names. Row identities on disk depend on it, so it must not change.
///
/// Constants: draft-eastlake-fnv, section 5.
package struct FNV1a {
    /// The hash of the bytes added so far.
    package private(set) var hash: UInt64

    /// Makes a hash of no bytes. Another seed gives other hashes.
    package init(seed: UInt64 = 0) {
        hash = 0xCBF2_9CE4_8422_2325 ^ seed
    }

    /// Adds a byte.
    package mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    /// Adds bytes.
    package mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { add(byte) }
    }

    /// Adds a text's UTF-8.
    package mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }
}

/// XXH64, a fast 64-bit hash. Detects accidental changes, but not deliberate ones.
///
/// Zone checksums need no stronger hash. A cryptographic hash would take most of the time of computing them.
package enum FastHash {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Returns the hash of a text's UTF-8.
    package static func hash(_ text: String, seed: UInt64) -> UInt64 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0), seed: seed) }
    }

    /// Returns the hash of bytes.
    package static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: seed) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var offset = 0
        var sum = stripes(bytes, seed: seed, &offset)
        sum &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            sum ^= round(
                0, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            sum = rotated(sum, 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            sum ^= UInt64(word) &* prime1
            sum = rotated(sum, 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            sum ^= UInt64(bytes[offset]) &* prime5
            sum = rotated(sum, 11) &* prime1
            offset += 1
        }
        sum = (sum ^ sum >> 33) &* prime2
        sum = (sum ^ sum >> 29) &* prime3
        return sum ^ sum >> 32
    }

    /// Hashes the complete stripes of 32 bytes, four words at a time.
    private static func stripes(
        _ bytes: UnsafeRawBufferPointer, seed: UInt64, _ offset: inout Int
    ) -> UInt64 {
        guard bytes.count >= 32 else { return seed &+ prime5 }
        var lanes = SIMD4<UInt64>(seed &+ prime1 &+ prime2, seed &+ prime2, seed, seed &- prime1)
        while offset + 32 <= bytes.count {
            for lane in 0..<4 {
                let word = bytes.loadUnaligned(fromByteOffset: offset + lane * 8, as: UInt64.self)
                lanes[lane] = round(lanes[lane], UInt64(littleEndian: word))
            }
            offset += 32
        }
        var sum =
            rotated(lanes[0], 1) &+ rotated(lanes[1], 7) &+ rotated(lanes[2], 12) &+ rotated(lanes[3], 18)
        for lane in 0..<4 { sum = (sum ^ round(0, lanes[lane])) &* prime1 &+ prime4 }
        return sum
    }

    private static func round(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        rotated(sum &+ word &* prime2, 31) &* prime1
    }

    private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }
}

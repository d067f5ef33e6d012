import System

/// The request IDs of one event loop: upper-case UUIDs of version 4, from one random seed.
struct RequestIdentifiers {
    private let source: SeededRandomSource

    init(random: any RandomSource) {
        source = SeededRandomSource(seed: random.next())
    }

    func next() -> String {
        let high = source.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = source.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for index in 0..<32 {
                if index == 8 || index == 12 || index == 16 || index == 20 {
                    text[position] = 0x2D
                    position += 1
                }
                let word = index < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (index % 16)) & 0xF)
                text[position] = digit < 10 ? 0x30 + digit : 0x41 + digit - 10
                position += 1
            }
            return 36
        }
    }
}

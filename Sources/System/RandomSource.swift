/// A source of randomness for IDs, epochs and jitter. A seeded source makes a whole run repeatable.
public protocol RandomSource: Sendable {
    /// Returns the next 64 random bits. May be called on any thread.
    func next() -> UInt64
}

extension RandomSource {
    /// Returns a random whole number in `range`. All numbers have the same probability.
    public func next(in range: Range<Int>) -> Int {
        var generator = Generator(source: self)
        return Int.random(in: range, using: &generator)
    }

    /// Returns a random number in 0..<1.
    public func nextUnitInterval() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Returns a version 4 UUID in upper case with hyphens, as in the record names of Apple's framework.
    public func nextUUID() -> String {
        var high = next()
        var low = next()
        high = high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        low = low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        let digits = hexadecimal(high) + hexadecimal(low)
        var text = [UInt8]()
        text.reserveCapacity(36)
        for (index, digit) in digits.enumerated() {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(0x2D) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func hexadecimal(_ value: UInt64) -> [UInt8] {
        let symbols = Array("0123456789ABCDEF".utf8)
        return (0..<16).map { symbols[Int(value >> UInt64(60 - 4 * $0) & 0xF)] }
    }
}

private struct Generator<Source: RandomSource>: RandomNumberGenerator {
    let source: Source
    func next() -> UInt64 { source.next() }
}

/// The operating system's random number generator.
public struct SystemRandomSource: RandomSource {
    /// Makes a source over the operating system's generator.
    public init() {}

    /// Returns the next 64 bits from the operating system.
    public func next() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}

/// A pseudorandom sequence that depends only on its seed: xoshiro256** (Blackman and Vigna,
/// https://prng.di.unimi.it).
public final class SeededRandomSource: RandomSource {
    private struct State {
        var a: UInt64, b: UInt64, c: UInt64, d: UInt64
    }

    /// Seed of the sequence.
    public let seed: UInt64
    private let state: Lock<State>

    /// Makes the sequence of `seed`.
    public init(seed: UInt64) {
        self.seed = seed
        // splitmix64 distributes the bits of the seed, as the authors recommend: xoshiro must not start with
        // zeros only.
        var mixer = seed
        func mixed() -> UInt64 {
            mixer &+= 0x9E37_79B9_7F4A_7C15
            var word = mixer
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
        state = Lock(State(a: mixed(), b: mixed(), c: mixed(), d: mixed()))
    }

    /// Returns the next 64 bits of the sequence.
    public func next() -> UInt64 {
        state.withLock { state in
            let result = rotated(state.b &* 5, by: 7) &* 9
            let shifted = state.b << 17
            state.c ^= state.a
            state.d ^= state.b
            state.b ^= state.c
            state.a ^= state.d
            state.c ^= shifted
            state.d = rotated(state.d, by: 45)
            return result
        }
    }

    private func rotated(_ word: UInt64, by count: UInt64) -> UInt64 {
        word << count | word >> (64 - count)
    }
}

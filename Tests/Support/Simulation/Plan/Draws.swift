import CloudWire
import System

/// Random numbers by name. A decision has a name of its own below that of what it belongs to (`device 1`, `step 17`),
/// so that a decision more or fewer elsewhere changes none of the others: a seed means the same run after the
/// simulator has grown.
package struct Draws: Sendable {
    private let state: UInt64

    package init(seed: UInt64) {
        state = Self.mixed(seed)
    }

    private init(state: UInt64) {
        self.state = state
    }

    /// The decisions that belong to something.
    package func named(_ name: String) -> Draws {
        Draws(state: value(name))
    }

    /// A number in `range`, each with the same probability.
    package func number(in range: Range<Int>, _ name: String) -> Int {
        // Of 64 bits the remainder's bias is of no account here.
        range.lowerBound + Int(value(name) % UInt64(range.count))
    }

    /// One of the elements; nil when there are none.
    package func one<Element>(of elements: [Element], _ name: String) -> Element? {
        elements.isEmpty ? nil : elements[number(in: 0..<elements.count, name)]
    }

    /// Whether something happens that does so in so many of a thousand cases.
    package func happens(perMille: Int, _ name: String) -> Bool {
        perMille > 0 && number(in: 0..<1000, name) < perMille
    }

    /// Randomness for a part of the product.
    package func source(_ name: String) -> SeededRandomSource {
        SeededRandomSource(seed: value(name))
    }

    /// 64 bits.
    package func value(_ name: String) -> UInt64 {
        var hash = FNV1a(seed: state)
        hash.add(name)
        return Self.mixed(hash.hash)
    }

    /// splitmix64.
    private static func mixed(_ seed: UInt64) -> UInt64 {
        var word = seed &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

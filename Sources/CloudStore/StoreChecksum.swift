/// Two sums modulo 2^64 over records. The service computes them; the store adds them up only for its own check.
package struct StoreChecksum: Hashable, Sendable {
    /// Sum over names, types and change tags.
    package var identities: UInt64
    /// Sum over names and fields.
    package var contents: UInt64

    /// Makes a checksum. Without parameters, the checksum of no records.
    package init(identities: UInt64 = 0, contents: UInt64 = 0) {
        self.identities = identities
        self.contents = contents
    }

    /// Adds records.
    package static func += (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &+= part.identities
        sum.contents &+= part.contents
    }

    /// Subtracts records.
    package static func -= (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &-= part.identities
        sum.contents &-= part.contents
    }
}

/// Two sums modulo 2^64 over records. The service computes them; the store adds them up only for its own check.
public struct StoreChecksum: Hashable, Sendable {
    /// Sum over names, types and change tags.
    public var identities: UInt64
    /// Sum over names and fields.
    public var contents: UInt64

    /// Makes a checksum. Without parameters, that of no records.
    public init(identities: UInt64 = 0, contents: UInt64 = 0) {
        self.identities = identities
        self.contents = contents
    }

    /// Adds records.
    public static func += (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &+= part.identities
        sum.contents &+= part.contents
    }

    /// Subtracts records.
    public static func -= (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &-= part.identities
        sum.contents &-= part.contents
    }
}

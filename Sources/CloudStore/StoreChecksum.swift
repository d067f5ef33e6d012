/// Two sums modulo 2^64 over records, which the service makes; the store adds them up only to check itself.
public struct StoreChecksum: Hashable, Sendable {
    /// The sum over names, types and change tags.
    public var identities: UInt64
    /// The sum over names and fields.
    public var contents: UInt64

    /// Makes a checksum; without parameters that of no record.
    public init(identities: UInt64 = 0, contents: UInt64 = 0) {
        self.identities = identities
        self.contents = contents
    }

    /// Adds records.
    public static func += (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &+= part.identities
        sum.contents &+= part.contents
    }

    /// Takes records away.
    public static func -= (sum: inout StoreChecksum, part: StoreChecksum) {
        sum.identities &-= part.identities
        sum.contents &-= part.contents
    }
}

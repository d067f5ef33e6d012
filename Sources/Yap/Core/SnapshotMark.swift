/// Number of a commit, and the writer that made it.
///
/// It is stored in every commit and read at every BEGIN. With the number alone, a failed commit 7 of this
/// process couldn't be distinguished from a commit 7 that another process made immediately after it.
struct SnapshotMark: Equatable, Sendable {
    static let byteCount = 16

    var number: UInt64
    var writer: UInt64

    init(number: UInt64, writer: UInt64) {
        self.number = number
        self.writer = writer
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        number = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        writer = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Returns the number of commits between an earlier one and this one. A restored older file has lower numbers.
    func count(since earlier: SnapshotMark) -> UInt64 {
        number > earlier.number ? number - earlier.number - 1 : 0
    }

    var bytes: [UInt8] {
        withUnsafeBytes(of: (number.bigEndian, writer.bigEndian)) { [UInt8]($0) }
    }
}

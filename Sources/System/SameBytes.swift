extension String {
    /// Returns true if both have the same UTF-8 bytes, as SQLite and the wire format compare texts.
    ///
    /// Swift considers "é" and "e" with a combining accent equal.
    @inlinable package func hasSameBytes(as other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Returns true if both have the same bytes, or both are nil.
    @inlinable package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (let text?, let other?): text.hasSameBytes(as: other)
        case (nil, nil): true
        default: false
        }
    }
}

extension Double {
    /// Returns true if both have the same bits. With `==`, zero and minus zero are equal.
    @inlinable package func hasSameBits(as other: Double) -> Bool { bitPattern == other.bitPattern }
}

extension Double? {
    /// Returns true if both have the same bits, or both are nil.
    @inlinable package func hasSameBits(as other: Double?) -> Bool { self?.bitPattern == other?.bitPattern }
}

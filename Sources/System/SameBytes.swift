extension String {
    /// Whether both are the same bytes in UTF-8, as SQLite and the wire compare texts.
    ///
    /// Swift takes "é" and "e" with a combining accent for one string.
    @inlinable package func hasSameBytes(as other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
        }.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Whether both are the same bytes, or both are nil.
    @inlinable package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (let text?, let other?): text.hasSameBytes(as: other)
        case (nil, nil): true
        default: false
        }
    }
}

extension Double {
    /// Whether both are the same bits, as a number is written. By `==` zero is minus zero.
    @inlinable package func hasSameBits(as other: Double) -> Bool { bitPattern == other.bitPattern }
}

extension Double? {
    /// Whether both are the same bits, or both are nil.
    @inlinable package func hasSameBits(as other: Double?) -> Bool { self?.bitPattern == other?.bitPattern }
}

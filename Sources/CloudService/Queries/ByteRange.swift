/// A range of byte strings in lexicographic order, from `lower` up to but not including `upper`.
struct ByteRange: Hashable, Comparable, Sendable {
    let lower: [UInt8]
    /// The end, or nil if the range has none.
    let upper: [UInt8]?

    /// All bytes.
    static let all = ByteRange(lower: [], upper: nil)

    init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// A range that contains only `bytes`. Its end is `bytes` followed by a zero byte.
    init(only bytes: [UInt8]) {
        self.init(lower: bytes, upper: bytes + [0])
    }

    /// All byte strings with a prefix.
    init(prefix: [UInt8]) {
        self.init(lower: prefix, upper: Self.end(of: prefix))
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        guard !bytes.lexicographicallyPrecedes(lower) else { return false }
        guard let upper else { return true }
        return bytes.lexicographicallyPrecedes(upper)
    }

    /// The same range with `prefix` prepended to each byte string.
    func prefixed(_ prefix: [UInt8]) -> ByteRange {
        ByteRange(lower: prefix + lower, upper: upper.map { prefix + $0 } ?? Self.end(of: prefix))
    }

    /// Returns a range that contains all byte strings of this one after they are truncated to `bytesMax` bytes. It
    /// contains few others.
    func cut(bytesMax: Int) -> ByteRange {
        ByteRange(
            lower: Array(lower.prefix(bytesMax)),
            upper: upper.map { $0.count > bytesMax ? Array($0.prefix(bytesMax)) + [0] : $0 })
    }

    func intersection(_ other: ByteRange) -> ByteRange {
        let lower = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
        guard let upper, let otherUpper = other.upper else {
            return ByteRange(lower: lower, upper: upper ?? other.upper)
        }
        return ByteRange(
            lower: lower, upper: upper.lexicographicallyPrecedes(otherUpper) ? upper : otherUpper)
    }

    static func < (left: ByteRange, right: ByteRange) -> Bool {
        left.lower.lexicographicallyPrecedes(right.lower)
    }

    /// Returns the first byte string after all those with `prefix`, or nil if there is none.
    private static func end(of prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }
}

extension [ByteRange] {
    /// Returns the ranges in order, with overlapping and adjacent ones merged.
    func merged() -> [ByteRange] {
        var merged: [ByteRange] = []
        for range in sorted() {
            if let upper = range.upper, !range.lower.lexicographicallyPrecedes(upper) { continue }
            guard let last = merged.last else {
                merged.append(range)
                continue
            }
            guard let lastUpper = last.upper else { break }
            if lastUpper.lexicographicallyPrecedes(range.lower) {
                merged.append(range)
            } else if let upper = range.upper, !lastUpper.lexicographicallyPrecedes(upper) {
                continue
            } else {
                merged[merged.count - 1] = ByteRange(lower: last.lower, upper: range.upper)
            }
        }
        return merged
    }

    /// Returns true if one of the merged ranges contains `bytes`.
    func haveRange(of bytes: [UInt8]) -> Bool {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if bytes.lexicographicallyPrecedes(self[middle].lower) { high = middle } else { low = middle + 1 }
        }
        return low > 0 && self[low - 1].contains(bytes)
    }
}

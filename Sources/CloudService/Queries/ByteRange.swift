/// The texts of bytes from `lower` up to but not including `upper`, as bytes are ordered.
struct ByteRange: Hashable, Comparable, Sendable {
    let lower: [UInt8]
    /// Nil: no end.
    let upper: [UInt8]?

    /// All bytes.
    static let all = ByteRange(lower: [], upper: nil)

    init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// Nothing but `bytes`: what comes next is they and a zero.
    init(only bytes: [UInt8]) {
        self.init(lower: bytes, upper: bytes + [0])
    }

    /// All that begins with `prefix`.
    init(prefix: [UInt8]) {
        self.init(lower: prefix, upper: Self.end(of: prefix))
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        guard !bytes.lexicographicallyPrecedes(lower) else { return false }
        guard let upper else { return true }
        return bytes.lexicographicallyPrecedes(upper)
    }

    /// The same range of bytes that all have `prefix` before them.
    func prefixed(_ prefix: [UInt8]) -> ByteRange {
        ByteRange(lower: prefix + lower, upper: upper.map { prefix + $0 } ?? Self.end(of: prefix))
    }

    /// A range in which all of this lie when bytes are cut after `bytesMax`, and little else.
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

    /// The first bytes behind all that begin with `prefix`; nil: there are none.
    private static func end(of prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }
}

extension [ByteRange] {
    /// Sorted, and what overlaps or touches made one.
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

    /// Returns true if one of the ranges, which are merged, has `bytes`.
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

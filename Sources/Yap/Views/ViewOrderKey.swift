/// Sort keys of rows that the app places: bytes between the keys of the neighbours, compared as fractions.
///
/// No key ends with a zero byte, so that the order of bytes is the order of fractions.
enum ViewOrderKey {
    /// Maximum bytes of a key.
    static let bytesMax = 64
    /// Maximum bytes of a key that `spread` returns, which leaves room between the keys.
    static let spreadBytesMax = 32

    /// Distance of a row at an end from the row beside it, in the first 8 bytes.
    private static let step: UInt64 = 1 << 24

    /// Returns a key between two others, or nil if it would be too long.
    ///
    /// - Parameters:
    ///   - lower: Key of the row before, or nil at the beginning.
    ///   - upper: Key of the row after, or nil at the end.
    static func between(_ lower: [UInt8]?, _ upper: [UInt8]?) -> [UInt8]? {
        switch (lower, upper) {
        case (nil, nil): return bytes(1 << 63)
        case (let lower?, nil):
            let (next, isOverflow) = head(lower).addingReportingOverflow(step)
            if !isOverflow { return bytes(next) }
        case (nil, let upper?):
            let (next, isOverflow) = head(upper).subtractingReportingOverflow(step)
            if !isOverflow, next > 0 { return bytes(next) }
        case (_?, _?): break
        }
        return middle(lower ?? [], upper)
    }

    /// Returns keys between two others, evenly spread; nil if they would be too long.
    static func spread(_ count: Int, _ lower: [UInt8]?, _ upper: [UInt8]?) -> [[UInt8]]? {
        var keys = [[UInt8]](repeating: [], count: count)
        func fill(_ range: Range<Int>, _ lower: [UInt8], _ upper: [UInt8]?) -> Bool {
            guard !range.isEmpty else { return true }
            let place = (range.lowerBound + range.upperBound) / 2
            guard let key = middle(lower, upper), key.count <= spreadBytesMax else { return false }
            keys[place] = key
            return fill(range.lowerBound..<place, lower, key)
                && fill(place + 1..<range.upperBound, key, upper)
        }
        // Leaves room at both ends for rows that are appended later, unless the neighbour uses it already.
        let (low, high) = (bytes(1 << 62), bytes(3 << 62))
        let from = lower ?? (upper.map { low.lexicographicallyPrecedes($0) } ?? true ? low : [])
        let to = upper ?? (lower.map { $0.lexicographicallyPrecedes(high) } ?? true ? high : nil)
        return fill(0..<count, from, to) ? keys : nil
    }

    /// Returns the shortest prefix of the arithmetic mean that is above the lower key.
    private static func middle(_ lower: [UInt8], _ upper: [UInt8]?) -> [UInt8]? {
        let length = max(lower.count, upper?.count ?? 0) + 1
        func digit(_ key: [UInt8], _ place: Int) -> Int { place < key.count ? Int(key[place]) : 0 }
        var sum = [Int](repeating: 0, count: length)
        var carry = upper == nil ? 256 : 0
        for place in 0..<length { sum[place] = digit(lower, place) + digit(upper ?? [], place) }
        var result: [UInt8] = []
        // The sum is divided by 2 from the first digit on; digits above 255 carry into those before.
        for place in stride(from: length - 1, to: 0, by: -1) where sum[place] > 255 {
            sum[place] -= 256
            sum[place - 1] += 1
        }
        for place in 0..<length {
            let value = carry + sum[place]
            result.append(UInt8(truncatingIfNeeded: value / 2))
            carry = value % 2 * 256
        }
        for count in 1...length {
            let key = stripped(Array(result.prefix(count)))
            if lower.lexicographicallyPrecedes(key) { return key.count <= bytesMax ? key : nil }
        }
        return nil
    }

    private static func head(_ key: [UInt8]) -> UInt64 {
        (0..<8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
    }

    private static func bytes(_ head: UInt64) -> [UInt8] {
        stripped((0..<8).map { UInt8(truncatingIfNeeded: head >> (56 - 8 * UInt64($0))) })
    }

    private static func stripped(_ key: [UInt8]) -> [UInt8] {
        Array(key.prefix((key.lastIndex { $0 != 0 } ?? -1) + 1))
    }
}

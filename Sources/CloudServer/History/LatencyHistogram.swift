/// A histogram of response times. Its bounds are close together, so that percentiles can be estimated.
struct LatencyHistogram: Hashable, Sendable {
    /// Upper bounds of the buckets in milliseconds. Longer times count in the last one.
    static let bounds: [Int64] = [
        0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
        5_000, 7_000, 10_000, 15_000, 20_000, 30_000, 60_000,
    ]

    private(set) var counts: [UInt64] = []

    /// Makes an empty histogram.
    init() {}

    /// Reads bytes written by `bytes`. Invalid bytes make an empty histogram.
    init(bytes: [UInt8]) {
        var counts: [UInt64] = []
        var (value, shift) = (UInt64(0), UInt64(0))
        for byte in bytes {
            guard shift < 63, counts.count < Self.bounds.count else { return }
            value |= UInt64(byte & 0x7F) << shift
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            counts.append(value)
            (value, shift) = (0, 0)
        }
        self.counts = counts
    }

    /// The counts, each with as few bytes as possible, without trailing zeros.
    var bytes: [UInt8] {
        counts.flatMap { count -> [UInt8] in
            var (bytes, rest) = ([UInt8](), count)
            while rest >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }
    }

    mutating func add(milliseconds: Int64) {
        let place = Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count - 1
        while counts.count <= place { counts.append(0) }
        counts[place] += 1
    }

    static func += (sum: inout LatencyHistogram, part: LatencyHistogram) {
        while sum.counts.count < part.counts.count { sum.counts.append(0) }
        for (place, count) in part.counts.enumerated() { sum.counts[place] &+= count }
    }

    /// Returns the upper bound of the given fraction of requests, from 0 to 1, or nil without requests.
    func milliseconds(atPart part: Double) -> Int64? {
        let total = counts.reduce(0, &+)
        guard total > 0 else { return nil }
        let wanted = (Double(total) * part).rounded(.up)
        var seen: UInt64 = 0
        for (place, count) in counts.enumerated() {
            seen &+= count
            if Double(seen) >= wanted { return Self.bounds[place] }
        }
        return Self.bounds[counts.count - 1]
    }
}

/// What the ordinary users ask.
package enum Work: String, CaseIterable, Sendable {
    case lookup, save, changes
}

/// How long answers took, in microseconds.
package struct Latencies: Sendable {
    private var values: [Work: [Int64]] = [:]

    mutating func add(_ microseconds: Int64, of work: Work) { values[work, default: []].append(microseconds) }

    package func count(_ work: Work) -> Int { values[work]?.count ?? 0 }

    /// The value below which such a part lies, in milliseconds; of all work when none is named.
    package func percentile(_ part: Double, of work: Work? = nil) -> Double {
        let sorted = (work.map { values[$0] ?? [] } ?? values.values.flatMap { $0 }).sorted()
        guard !sorted.isEmpty else { return 0 }
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1000
    }
}

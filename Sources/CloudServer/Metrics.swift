import Seams

/// Counts since the start.
struct MetricCounts {
    /// The upper ends of the times that are counted together, in milliseconds; what takes longer has a place of its
    /// own.
    static let millisecondsMax: [Int64] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000]

    private var byStatus: [Int: Int] = [:]
    private var byMilliseconds = [Int](repeating: 0, count: millisecondsMax.count + 1)
    private var milliseconds: Int64 = 0

    /// Counts a request.
    mutating func count(status: Int, milliseconds: Int64) {
        byStatus[status, default: 0] += 1
        let place = Self.millisecondsMax.firstIndex { milliseconds <= $0 } ?? Self.millisecondsMax.count
        byMilliseconds[place] += 1
        self.milliseconds += milliseconds
    }

    /// The counts as lines of text, in the form that monitoring programs read.
    func text(gauges: [(name: String, value: Int)]) -> String {
        var lines: [String] = []
        for (status, count) in byStatus.sorted(by: { $0.key < $1.key }) {
            lines.append("yap_requests_total{status=\"\(status)\"} \(count)")
        }
        var total = 0
        for (end, count) in zip(Self.millisecondsMax.map(String.init) + ["+Inf"], byMilliseconds) {
            total += count
            lines.append("yap_request_milliseconds_bucket{le=\"\(end)\"} \(total)")
        }
        lines.append("yap_request_milliseconds_sum \(milliseconds)")
        lines.append("yap_request_milliseconds_count \(total)")
        for gauge in gauges { lines.append("\(gauge.name) \(gauge.value)") }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Text in Prometheus's exposition format, version 0.0.4.
struct MetricsText {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// The content type that monitoring programs expect.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a family. Its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample to the family that was begun last.
    mutating func sample(_ name: String, _ labels: [(name: String, value: String)] = [], _ value: Double) {
        let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        text += name + (pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}")
        text += " \(Self.number(value))\n"
    }

    /// Adds a family with one sample.
    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        family(name, kind, help)
        sample(name, [], value)
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// Counts of values by size.
struct Histogram {
    /// Upper bounds of the buckets. Larger values have a bucket of their own.
    let ends: [Double]
    private var counts: [Int]
    private var sum = 0.0

    init(ends: [Double]) {
        self.ends = ends
        counts = [Int](repeating: 0, count: ends.count + 1)
    }

    mutating func add(_ value: Double) {
        counts[ends.firstIndex { value <= $0 } ?? ends.count] += 1
        sum += value
    }

    /// Writes the samples of a family that was begun.
    func write(_ name: String, _ labels: [(name: String, value: String)], to text: inout MetricsText) {
        var total = 0
        for (end, count) in zip(ends.map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" } + ["+Inf"], counts) {
            total += count
            text.sample("\(name)_bucket", labels + [("le", end)], Double(total))
        }
        text.sample("\(name)_sum", labels, sum)
        text.sample("\(name)_count", labels, Double(total))
    }
}

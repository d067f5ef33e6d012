import Foundation

/// Reads Prometheus's text format strictly: what breaks a rule throws.
struct Exposition {
    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Family {
        let name: String
        let kind: String
        var samples: [Sample] = []
    }

    private(set) var families: [String: Family] = [:]

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Failure("no line feed at the end") }
        var current: Family?
        var helped: String?
        var seen = Set<String>()
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("# HELP ") {
                if let current { try end(current) }
                current = nil
                let words = line.dropFirst(7).split(separator: " ", maxSplits: 1)
                guard words.count == 2, families[String(words[0])] == nil else { throw Failure("\(line)") }
                helped = String(words[0])
            } else if line.hasPrefix("# TYPE ") {
                let words = line.dropFirst(7).split(separator: " ").map(String.init)
                guard words.count == 2, words[0] == helped,
                    ["counter", "gauge", "histogram"].contains(words[1])
                else { throw Failure("\(line)") }
                guard (words[1] == "counter") == words[0].hasSuffix("_total") else {
                    throw Failure("\(words[0]) is a \(words[1])")
                }
                current = Family(name: words[0], kind: words[1])
            } else {
                let sample = try Self.sample(String(line))
                guard let family = current, seen.insert(String(line.prefix { $0 != " " })).inserted else {
                    throw Failure("out of place: \(line)")
                }
                let endings = family.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                guard endings.contains(where: { sample.name == family.name + $0 }) else {
                    throw Failure("\(sample.name) in \(family.name)")
                }
                current?.samples.append(sample)
            }
        }
        if let current { try end(current) }
    }

    /// The value of the sample with these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.values.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func end(_ family: Family) throws {
        families[family.name] = family
        guard family.kind == "histogram" else { return }
        var groups: [[String: String]: [(end: Double, count: Double)]] = [:]
        for sample in family.samples where sample.name.hasSuffix("_bucket") {
            var labels = sample.labels
            guard let text = labels.removeValue(forKey: "le"), let end = Double(text) ?? Self.infinity(text)
            else {
                throw Failure("no le in \(sample)")
            }
            groups[labels, default: []].append((end, sample.value))
        }
        for (labels, places) in groups {
            guard places.map(\.end) == places.map(\.end).sorted(), places.last?.end == .infinity,
                places.map(\.count) == places.map(\.count).sorted(),
                family.samples.contains(where: {
                    $0.name == family.name + "_count" && $0.labels == labels && $0.value == places.last?.count
                }), family.samples.contains(where: { $0.name == family.name + "_sum" && $0.labels == labels })
            else { throw Failure("the places of \(family.name) \(labels)") }
        }
    }

    private static func infinity(_ text: String) -> Double? { text == "+Inf" ? .infinity : nil }

    private static func sample(_ line: String) throws -> Sample {
        let pattern = /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([-+0-9.eE]+|NaN|\+Inf|-Inf)/
        guard let match = line.wholeMatch(of: pattern), let value = Double(match.output.3) else {
            throw Failure("no sample: \(line)")
        }
        var labels: [String: String] = [:]
        var rest = match.output.2 ?? ""
        while !rest.isEmpty {
            guard
                let label = rest.prefixMatch(
                    of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/),
                labels.updateValue(String(label.output.2), forKey: String(label.output.1)) == nil
            else { throw Failure("no label: \(rest)") }
            rest = rest[label.range.upperBound...]
        }
        return Sample(name: String(match.output.1), labels: labels, value: value)
    }
}

import Foundation

/// One comparison: ours and its reference do the same work by turns in the same run.
struct Line: Sendable {
    /// Does the work in an empty folder, and returns how many units of it were done in a second.
    typealias Measure = @Sendable (_ folder: URL) async throws -> Double

    var name: String
    var unit: String
    /// The ratio that the line must reach, where one is set.
    var bar: Double?
    var ours: Measure
    var reference: Measure
}

/// What a line came to.
struct LineResult {
    static let roundsCount = 7

    let line: Line
    let ours: [Double]
    let reference: [Double]

    var ratio: Double { Self.median(ours) / Self.median(reference) }
    var passes: Bool { line.bar.map { ratio >= $0 } ?? true }

    /// Runs the rounds. Who goes first changes each time, so that neither always gets the warmer machine.
    init(_ line: Line) async throws {
        self.line = line
        var ours: [Double] = []
        var reference: [Double] = []
        for round in 0...Self.roundsCount {
            let oursFirst = round.isMultiple(of: 2)
            if oursFirst { ours.append(try await Self.measured(line.ours)) }
            reference.append(try await Self.measured(line.reference))
            if !oursFirst { ours.append(try await Self.measured(line.ours)) }
        }
        // The first round warms up.
        self.ours = Array(ours.dropFirst())
        self.reference = Array(reference.dropFirst())
    }

    private static func measured(_ measure: Line.Measure) async throws -> Double {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "yap-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await measure(folder)
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// How far the rounds lie apart, as a part of their median.
    private static func spread(_ values: [Double]) -> Double {
        ((values.max() ?? 0) - (values.min() ?? 0)) / median(values)
    }

    /// The line as it is printed.
    var text: String {
        var text = line.name.padding(toLength: 22, withPad: " ", startingAt: 0)
        text +=
            String(format: "%11.0f", Self.median(ours))
            + String(format: " (±%2.0f%%)", Self.spread(ours) * 50)
        text += String(format: "%12.0f", Self.median(reference))
        text += String(format: " (±%2.0f%%)", Self.spread(reference) * 50)
        text += String(format: "%9.2f", ratio) + "  \(line.unit)"
        if let bar = line.bar { text += String(format: "   bar %.1f: ", bar) + (passes ? "met" : "NOT MET") }
        return text
    }

    /// The line's entry in `bench.json`.
    var json: String {
        let values = String(
            format: "\"ours\": %.1f, \"reference\": %.1f, \"ratio\": %.4f", Self.median(ours),
            Self.median(reference), ratio)
        return "  \"\(line.name)\": {\(values), \"unit\": \"\(line.unit)\"}"
    }
}

/// How many of `count` units `body` does in a second.
func rate(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
}

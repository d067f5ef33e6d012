import Foundation

/// One comparison: ours and its reference do the same work by turns in the same run.
struct Line: Sendable {
    /// Does the work in an empty folder, and returns how many units of it were done in a second.
    typealias Measure = @Sendable (_ folder: URL) async throws -> Double

    var name: String
    var unit: String
    /// The ratio that the line must reach, where one is set.
    var bar: Double?
    /// How often ours and the reference take turns, after a first time that warms up.
    var roundsCount = 7
    /// Gets ready for the rounds, in an empty folder.
    var open: @MainActor @Sendable (_ folder: URL) async throws -> any LineRun

    /// A line that keeps its servers and files from round to round.
    init(
        name: String, unit: String, bar: Double? = nil, roundsCount: Int = 7,
        open: @escaping @MainActor @Sendable (_ folder: URL) async throws -> any LineRun
    ) {
        self.name = name
        self.unit = unit
        self.bar = bar
        self.roundsCount = roundsCount
        self.open = open
    }

    /// A line whose rounds begin with an empty folder each.
    init(
        name: String, unit: String, bar: Double? = nil, ours: @escaping Measure, reference: @escaping Measure
    ) {
        self.init(name: name, unit: unit, bar: bar) { _ in FolderRun(ours: ours, reference: reference) }
    }
}

/// A line that is being measured.
@MainActor
protocol LineRun: AnyObject {
    /// Does our work once: units a second, or another number where the line's unit says so.
    func ours() async throws -> Double
    /// Does the reference's.
    func reference() async throws -> Double
    /// What belongs beside the ratio, looked at after the last round.
    func remarks() async throws -> [LineRemark]
    /// Ends what was started.
    func close()
}

extension LineRun {
    func remarks() async throws -> [LineRemark] { [] }
    func close() {}
}

/// Something else that a line found out.
struct LineRemark {
    var text: String
    /// False when it misses a bar of its own.
    var passes = true
}

/// Why a line could not be measured.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

private final class FolderRun: LineRun {
    private let oursMeasure: Line.Measure
    private let referenceMeasure: Line.Measure

    init(ours: @escaping Line.Measure, reference: @escaping Line.Measure) {
        oursMeasure = ours
        referenceMeasure = reference
    }

    func ours() async throws -> Double { try await inNewFolder(oursMeasure) }
    func reference() async throws -> Double { try await inNewFolder(referenceMeasure) }

    private func inNewFolder(_ measure: Line.Measure) async throws -> Double {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try await measure(folder.url)
    }
}

/// An empty folder.
struct TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("yap-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}

/// What a line came to.
struct LineResult {
    let line: Line
    let ours: [Double]
    let reference: [Double]
    let remarks: [LineRemark]

    var ratio: Double { Self.median(ours) / Self.median(reference) }
    var passes: Bool { line.bar.map { ratio >= $0 } ?? true && remarks.allSatisfy(\.passes) }

    /// Runs the rounds. Who goes first changes each time, so that neither always gets the warmer machine.
    @MainActor
    init(_ line: Line) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let run = try await line.open(folder.url)
        defer { run.close() }
        var ours: [Double] = []
        var reference: [Double] = []
        for round in 0...line.roundsCount {
            let oursFirst = round.isMultiple(of: 2)
            if oursFirst { ours.append(try await run.ours()) }
            reference.append(try await run.reference())
            if !oursFirst { ours.append(try await run.ours()) }
        }
        self.line = line
        // The first round warms up.
        self.ours = Array(ours.dropFirst())
        self.reference = Array(reference.dropFirst())
        remarks = try await run.remarks()
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// How far the rounds lie apart, as a part of their median.
    private static func spread(_ values: [Double]) -> Double {
        ((values.max() ?? 0) - (values.min() ?? 0)) / median(values)
    }

    /// The line as it is printed, with its remarks below.
    var text: String {
        var text = line.name.padding(toLength: 24, withPad: " ", startingAt: 0)
        text += Self.column(ours) + " " + Self.column(reference)
        text += String(format: "%9.2f", ratio) + "  \(line.unit)"
        if let bar = line.bar {
            text += String(format: "   bar %.4g: ", bar) + (ratio >= bar ? "met" : "NOT MET")
        }
        for remark in remarks { text += "\n    \(remark.text)" + (remark.passes ? "" : ": NOT MET") }
        return text
    }

    private static func column(_ values: [Double]) -> String {
        let median = median(values)
        return String(format: median < 1000 ? "%11.2f" : "%11.0f", median)
            + String(format: " (±%2.0f%%)", spread(values) * 50)
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

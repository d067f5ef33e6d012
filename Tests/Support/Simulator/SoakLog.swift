import Foundation
import Simulation

/// A file in which each stretch of runs has a line: of which commit, what, how much, and what failed.
struct SoakLog {
    let path: String

    func append(_ tally: Tally, _ options: SimulatorOptions) throws {
        let faults = tally.firings.sorted { $0.key < $1.key }.map { "\($0.key.rawValue)=\($0.value)" }
        let line =
            "commit \(Self.commit) seeds \(options.firstSeed)+\(tally.runs) device-hours \(tally.deviceHours) "
            + "failures \(tally.failed) \(faults.joined(separator: " "))\n"
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(filePath: path))
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
    }

    /// Set by `Scripts/explore`.
    private static var commit: String { ProcessInfo.processInfo.environment["YAP_COMMIT"] ?? "unknown" }
}

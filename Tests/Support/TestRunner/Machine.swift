import Foundation

/// The machine that the tests share with other work.
enum Machine {
    /// How many processes wanted a processor in the last minute, for each processor; at least 1.
    static var slowdown: Double {
        guard let line = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8),
            let load = line.split(separator: " ").first.flatMap({ Double($0) })
        else { return 1 }
        return max(1, load / Double(ProcessInfo.processInfo.activeProcessorCount))
    }
}

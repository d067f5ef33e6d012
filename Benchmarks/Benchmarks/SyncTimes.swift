import CBenchmarks
import Foundation

/// What appending 4 KB to a file and syncing it takes on this machine.
struct SyncTimes {
    let p50Microseconds: Double
    let p99Microseconds: Double

    init(in folder: URL, count: Int = 1_000) throws {
        var times = [UInt32](repeating: 0, count: count)
        let path = folder.appendingPathComponent("sync").path
        guard probe_sync(path, count, &times) == 0 else { throw BenchError("\(path) can't be synced") }
        p50Microseconds = percentile(0.5, of: times)
        p99Microseconds = percentile(0.99, of: times)
    }

    var text: String { String(format: "%.0f us (p99 %.0f us)", p50Microseconds, p99Microseconds) }
}

/// The time below which a part of the times lies, in microseconds.
func percentile(_ part: Double, of nanoseconds: [UInt32]) -> Double {
    guard !nanoseconds.isEmpty else { return 0 }
    let index = min(nanoseconds.count - 1, Int(Double(nanoseconds.count) * part))
    return Double(nanoseconds.sorted()[index]) / 1e3
}

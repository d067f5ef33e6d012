import Foundation

/// What each unit took, kept from run to run, so that the longest begins first.
struct UnitTimes {
    let path: String

    func read() -> [String: Double] {
        RunFiles.text(of: path).split(separator: "\n").reduce(into: [:]) { times, line in
            let parts = line.split(separator: "\t")
            if parts.count == 2, let seconds = Double(parts[0]) { times[String(parts[1])] = seconds }
        }
    }

    func add(_ times: [String: Double]) {
        let lines = read().merging(times) { $1 }.sorted { $0.key < $1.key }.map { "\($0.value)\t\($0.key)\n" }
        try? Data(lines.joined().utf8).write(to: URL(filePath: path), options: .atomic)
    }
}

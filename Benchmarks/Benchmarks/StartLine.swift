import Foundation

/// A server that starts on an empty folder until it has answered, against nginx until it accepts a connection; and what
/// a server that nobody asks anything keeps in memory.
final class StartRun: LineRun {
    private static let millisecondsMax = 300.0
    private static let residentMegabytesMax = 60.0

    private let folder: URL
    private var count = 0
    private var times: [Double] = []
    private var sizes: [Double] = []

    init(_ folder: URL) { self.folder = folder }

    func ours() throws -> Double {
        let folder = try nextFolder()
        let start = Date()
        let cloud = try CloudProcess(storePath: folder.appendingPathComponent("store.sqlite").path)
        defer { cloud.end() }
        try cloud.exchange(ServiceRequests.listZones)
        let seconds = Date().timeIntervalSince(start)
        times.append(seconds * 1000)
        sizes.append(Double(try cloud.process.residentBytes()) / 1e6)
        return 1 / seconds
    }

    func reference() throws -> Double {
        let folder = try nextFolder()
        let start = Date()
        let nginx = try Nginx(
            folder: folder, content: [[]], workersCount: ServiceLoad.workersCount, usesSendfile: true)
        defer { nginx.end() }
        return 1 / Date().timeIntervalSince(start)
    }

    func remarks() -> [LineRemark] {
        let milliseconds = LineResult.median(times)
        let megabytes = LineResult.median(sizes)
        return [
            LineRemark(
                text: String(
                    format: "ready after %.0f ms (aim %.0f); idle in %.1f MB (aim %.0f)", milliseconds,
                    Self.millisecondsMax, megabytes, Self.residentMegabytesMax),
                passes: milliseconds <= Self.millisecondsMax && megabytes <= Self.residentMegabytesMax)
        ]
    }

    private func nextFolder() throws -> URL {
        count += 1
        let next = folder.appendingPathComponent("\(count)")
        try FileManager.default.createDirectory(at: next, withIntermediateDirectories: true)
        return next
    }
}

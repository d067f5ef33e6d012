import CBenchmarks
import Foundation

/// What one user who floods does to another, in the same run.
func floodLine() -> Line {
    Line(name: "service.flood", unit: "1/s", bar: 0.5, roundsCount: 5) { try FloodRun(in: $0) }
}

/// One user's requests, a save and a lookup by turns, one after the other: the inverse of their p99 while another user
/// saves on many connections without a pause, against that of the same requests when nobody else asks.
private final class FloodRun: LineRun {
    private static let floodConnectionsCount = 32
    private static let requestsCount = 400

    private let cloud: CloudProcess
    private let source = ServiceRequests(seed: 1)
    private var idle: [Double] = []
    private var flooded: [Double] = []

    init(in folder: URL) throws {
        let path = folder.appendingPathComponent("ours.sqlite").path
        cloud = try CloudProcess(storePath: path, isIndexed: false)
        try cloud.exchange(ServiceRequests.makeZone)
        try cloud.exchange(Self.asOther(ServiceRequests.makeZone))
    }

    func ours() throws -> Double {
        let flood = try Flood(cloud.port, connectionsCount: Self.floodConnectionsCount)
        defer { flood.end() }
        let p99 = try measure()
        flooded.append(p99)
        return 1 / p99
    }

    func reference() throws -> Double {
        let p99 = try measure()
        idle.append(p99)
        return 1 / p99
    }

    func remarks() throws -> [LineRemark] {
        let (idle, flooded) = (LineResult.median(idle) * 1000, LineResult.median(flooded) * 1000)
        return [LineRemark(text: String(format: "p99 %.2f ms, and %.2f ms under the flood", idle, flooded))]
    }

    func close() { cloud.end() }

    /// The p99 of the other user's requests, in seconds.
    private func measure() throws -> Double {
        let requests = LoadRequests(
            (0..<Self.requestsCount / 2).flatMap { _ -> [[UInt8]] in
                let names = source.names(1)
                return [
                    Self.asOther(source.save(names)), Self.asOther(ServiceRequests.lookup(names[0])),
                ]
            })
        return try Load.latencies(of: requests, port: cloud.port)[Self.requestsCount * 99 / 100]
    }

    private static func asOther(_ request: [UInt8]) -> [UInt8] {
        let text = String(decoding: request, as: UTF8.self)
        return Array(
            text.replacingOccurrences(
                of: "ckWebAuthToken=\(ServiceRequests.token)&",
                with: "ckWebAuthToken=\(ServiceRequests.token(ofUser: 0))&"
            ).utf8)
    }
}

/// A user who saves on many connections until it is told to end.
private final class Flood: @unchecked Sendable {
    // Sendable because `isEnding` and `failure` are touched only under the lock.
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)
    private var isEnding = false

    init(_ port: Int, connectionsCount: Int) throws {
        let source = ServiceRequests(seed: UInt64.random(in: 0 ... .max))
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            var isFirst = true
            repeat {
                let requests = LoadRequests((0..<500).map { _ in source.save(source.names(1)) })
                _ = try? Load.run(requests, port: port, connections: connectionsCount, total: 500)
                if isFirst { begun.signal() }
                isFirst = false
            } while !lock.withLock { isEnding }
            ended.signal()
        }
        begun.wait()
    }

    func end() {
        lock.withLock { isEnding = true }
        ended.wait()
    }
}

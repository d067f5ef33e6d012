import CBenchmarks
import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// The statements that our service ran on its store for a number of saves, to be run again in C.
final class Recording {
    private let recording: OpaquePointer
    /// The store as it was before the first save.
    private let startPath: String
    /// The rows of records that the statements write.
    let rowsCount: Int

    /// Saves `batches` in this process, `groupCount` of them a commit, each making the records of its names.
    init(_ batches: [[String]], groupCount: Int, isIndexed: Bool, folder: URL) throws {
        startPath = folder.appendingPathComponent("start-\(groupCount).sqlite").path
        if !isIndexed { try benchSchema(startPath) }
        let path = folder.appendingPathComponent("recorded-\(groupCount).sqlite").path
        try Self.makeStore(startPath)
        try FileManager.default.copyItem(atPath: startPath, toPath: path)
        guard let recording = replay_start() else { throw BenchError("statements can't be recorded") }
        self.recording = recording
        defer { replay_stop(recording) }
        // However slow the machine is now, a group has as many requests as were asked for.
        var limits = GroupLimits()
        limits.milliseconds = 60_000
        let service = benchService(try SQLiteCloudStore(path: path), groupLimits: limits)
        let random = SeededRandomSource(seed: 3)
        for start in stride(from: 0, to: batches.count, by: groupCount) {
            for names in batches[start..<min(batches.count, start + groupCount)] {
                _ = service.begin(Self.save(names, operation: random.nextUUID()))
            }
            for (_, response) in service.commitGroup() {
                let body = String(decoding: response.body, as: UTF8.self)
                guard response.status == 200, !body.contains("serverErrorCode") else {
                    throw BenchError("the service refused a save: \(body.prefix(300))")
                }
            }
        }
        rowsCount = replay_count(recording, Self.insert)
        guard rowsCount == batches.reduce(0, { $0 + $1.count }) else {
            throw BenchError("\(rowsCount) rows were recorded; the service's statements are others now")
        }
    }

    deinit { replay_free(recording) }

    /// Rows a second, with the service's own transactions.
    func together(in folder: URL) throws -> Double {
        try rate(in: folder) { replay_run(recording, $0) }
    }

    /// Rows a second when each row of a record is written alone in a transaction, and nothing else is.
    func oneACommit(in folder: URL) throws -> Double {
        try rate(in: folder) { replay_run_each(recording, $0, Self.insert) }
    }

    private static let insert = "INTO records\n"

    private func rate(in folder: URL, _ run: (String) -> Double) throws -> Double {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.url.appendingPathComponent("reference.sqlite").path
        try FileManager.default.copyItem(atPath: startPath, toPath: path)
        let seconds = run(path)
        guard seconds > 0 else { throw BenchError("the recorded statements don't run again in C") }
        return Double(rowsCount) / seconds
    }

    /// A store with the zone of the lines, closed.
    private static func makeStore(_ path: String) throws {
        try makeZone(benchService(try SQLiteCloudStore(path: path)))
    }

    /// What the service answers to a save of new records of these names, as the first one in its store.
    static func answer(toSaveOf names: [String], service: CloudService) throws -> [UInt8] {
        try makeZone(service)
        let response = service.respond(to: save(names, operation: "answer"))
        guard response.status == 200 else { throw BenchError("the service saves nothing") }
        return response.body
    }

    /// What the service answers to a lookup of records that are there.
    static func answer(toLookupOf names: [String], service: CloudService) throws -> [UInt8] {
        let items = names.map { #"{"recordName":"\#($0)"}"# }.joined(separator: ",")
        let body = #"{"records":[\#(items)],"zoneID":\#(ServiceRequests.zone)}"#
        let response = service.respond(to: wireRequest("records/lookup", body))
        guard response.status == 200 else { throw BenchError("the service fetches nothing") }
        return response.body
    }

    static func makeZone(_ service: CloudService) throws {
        let body = #"{"operations":[{"operationType":"create","zone":{"zoneID":\#(ServiceRequests.zone)}}]}"#
        let response = service.respond(to: wireRequest("zones/modify", body))
        guard response.status == 200 else { throw BenchError("the service makes no zone") }
    }

    private static func save(_ names: [String], operation: String) -> WireRequest {
        wireRequest("records/modify", ServiceRequests.saveBody(names), operation: operation)
    }

    static func wireRequest(_ action: String, _ body: String, operation: String? = nil) -> WireRequest {
        var headers = [(name: WireHeader.client, value: "1")]
        if let operation { headers.append((name: "X-Yap-Operation", value: operation)) }
        return WireRequest(
            path: "/database/1/\(ServiceRequests.container)/development/private/\(action)",
            query: [
                (name: WireHeader.webAuthTokenItem, value: ServiceRequests.token),
                (name: "clientId", value: "bench"),
            ],
            headers: headers, body: Array(body.utf8))
    }
}

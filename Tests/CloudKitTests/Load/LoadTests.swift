import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import HTTPServer
import System
import Testing

/// Many operations at once, and for long.
@Suite struct LoadTests {
    @Test func twoHundredOperationsAtOnceEndOnceEach() async throws {
        let cloud = TestCloud()
        let behind = try CloudBehindHTTP(cloud)
        _ = cloud.device(user: "ada")
        let database = databaseOverHTTP(behind.url, token: "token-of-ada")
        let zone = CKRecordZone(zoneName: "todos")
        try await database.save(zone)
        let ends = Ends()
        // 16 tasks add 200 operations of several kinds.
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for number in stride(from: task, to: 200, by: 16) {
                        database.add(Self.operation(number, zone.zoneID, ends))
                    }
                }
            }
        }
        await ends.wait()
        #expect(ends.codes.count == 200 && ends.codes.allSatisfy { $0 == nil }, "\(ends.codes)")
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        #expect(page.modificationResultsByID.count == 100)
        withExtendedLifetime((cloud, behind)) {}
    }

    private static func operation(_ number: Int, _ zoneID: CKRecordZone.ID, _ ends: Ends)
        -> CKDatabaseOperation
    {
        switch number % 4 {
        case 0, 1: return ends.save("\(number)", zoneID: zoneID)
        case 2:
            let operation = CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])
            let report = ends.counted(operation)
            operation.fetchRecordZonesResultBlock = { report($0.failure) }
            return operation
        default:
            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID])
            let report = ends.counted(operation)
            operation.fetchRecordZoneChangesResultBlock = { report($0.failure) }
            return operation
        }
    }

    /// Saves records over HTTP, 16 tasks at once, and prints by how many bytes the process grew.
    /// `YAP_SAVES` says how many.
    @Test func memoryIsFlatOverManySaves() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let count = ProcessInfo.processInfo.environment["YAP_SAVES"].flatMap { Int($0) } ?? 6_000
            let server = HTTPServer(options: HTTPServerOptions(), handler: AlwaysSaved())
            try server.start()
            let database = databaseOverHTTP("http://127.0.0.1:\(server.port)")
            // What is made once, and what the allocators keep, is made by then.
            try await Self.save(2_000, database)
            let before = residentBytes()
            var samples: [String] = []
            for _ in 0..<4 {
                try await Self.save(count / 4, database)
                samples.append("\((residentBytes() - before) >> 10)")
            }
            let grown = residentBytes() - before
            print("memory: KiB more after each quarter:", samples.joined(separator: ", "))
            print("memory: \(count) saves, \(before >> 10) KiB before, \(grown >> 10) KiB more")
            server.stop(graceMilliseconds: 0)
            exit(grown < 24 << 20 ? 0 : 1)
        }
        if let text = result?.standardOutputContent {
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
            print(lines.filter { $0.hasPrefix("memory") }.joined(separator: "\n"))
        }
    }

    private static func save(_ count: Int, _ database: CKDatabase) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    for number in stride(from: task, to: count, by: 16) {
                        let record = CKRecord(
                            recordType: "todo", recordID: CKRecord.ID(recordName: "\(number)"))
                        record["title"] = "Buy milk, number \(number)"
                        try await database.save(record)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Bytes of the process that lie in memory.
private func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
}

/// Says of every save that it is done, and keeps nothing.
private final class AlwaysSaved: HTTPHandler {
    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan { .collect(bytesMax: 1 << 20) }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let json = #"{"records":[{"recordName":"1","recordType":"todo","recordChangeTag":"a","fields":{}}]}"#
        exchange.respond(
            HTTPResponse(
                status: 200, headers: [(WireHeader.protocolVersion, "1")], body: .bytes(Array(json.utf8))))
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: CKError? {
        if case .failure(let error) = self { error as? CKError } else { nil }
    }
}

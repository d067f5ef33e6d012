import CloudKit
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// Exchanges that others recorded with Apple's servers, asked by the framework: the request is the recorded one, and
/// the recorded answer is understood. Found through `YAP_FIXTURES`; no part of this project.
@Suite struct AppleRecordedTests {
    /// What of our requests isn't in the recorded ones, and why it may.
    private static let allowed: [String: String] = [
        "records/modify -desiredKeys": "the recorded client asks for one field back, we for all",
        "records/modify +operations[].record.fields.isDeleted.type": "Apple's reference has the key",
    ]

    private struct Exchange {
        var path: String
        var request: [String: Any]
        var response: [String: Any]
        var scope: String { parts[4] }
        var endpoint: String { parts.dropFirst(5).joined(separator: "/") }
        private var parts: [String] { path.split(separator: "/").map(String.init) }

        func container(_ transport: ScriptedTransport) -> CKContainer {
            appleContainer(transport, identifier: parts[2], environment: parts[3])
        }

        func database(_ transport: ScriptedTransport) -> CKDatabase {
            scope == "shared"
                ? container(transport).sharedCloudDatabase : container(transport).privateCloudDatabase
        }

        /// The zone, as an app names it.
        var zoneID: CKRecordZone.ID? {
            let zone = request["zoneID"] as? [String: Any]
            return (zone?["zoneName"] as? String).map {
                CKRecordZone.ID(
                    zoneName: $0, ownerName: zone?["ownerRecordName"] as? String ?? CKCurrentUserDefaultName)
            }
        }

        var records: [[String: Any]] { response["records"] as? [[String: Any]] ?? [] }
    }

    private static func exchanges(_ folder: String) throws -> [Exchange] {
        let file = URL(fileURLWithPath: folder).appendingPathComponent(
            "cloudkit-web-services-exchanges.jsonl")
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { line in
            let json = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            return Exchange(
                path: try #require(json["path"] as? String),
                request: json["request"] as? [String: Any] ?? [:],
                response: json["response"] as? [String: Any] ?? [:])
        }
    }

    /// Where two bodies differ: `+` what only ours has, `-` what only the recorded one has, `=` other values.
    private static func differences(_ ours: Any, _ recorded: Any, _ path: String = "") -> [String] {
        switch (ours, recorded) {
        case (let ours as [String: Any], let recorded as [String: Any]):
            return Set(ours.keys).union(recorded.keys).sorted().flatMap { key -> [String] in
                let place = path.isEmpty ? key : "\(path).\(key)"
                guard let own = ours[key] else { return ["-\(place)"] }
                guard let other = recorded[key] else { return ["+\(place)"] }
                return differences(own, other, place)
            }
        case (let ours as [Any], let recorded as [Any]):
            guard ours.count == recorded.count else { return ["=\(path).count"] }
            return zip(ours, recorded).flatMap { differences($0, $1, path + "[]") }
        default: return (ours as? NSObject) == (recorded as? NSObject) ? [] : ["=\(path)"]
        }
    }

    @Test func recordedRequestsAreTheOnesThatTheFrameworkSends() async throws {
        guard let folder = ProcessInfo.processInfo.environment["YAP_FIXTURES"] else {
            print("external fixtures: absent")
            return
        }
        var asked: [String: Int] = [:]
        var used = Set<String>()
        for exchange in try Self.exchanges(folder) {
            let body = try JSONSerialization.data(withJSONObject: exchange.response)
            let transport = ScriptedTransport([.success(WireResponse(status: 200, body: Array(body)))])
            switch exchange.endpoint {
            case "zones/list": try await list(exchange, transport)
            case "records/query": try query(exchange, transport)
            case "records/modify": try await modify(exchange, transport)
            default: continue
            }
            asked[exchange.endpoint, default: 0] += 1
            let request = try #require(transport.requests.first)
            #expect(request.method == "POST" && request.path == exchange.path)
            #expect(request.headers.map(\.name) == ["Content-Type"])
            for difference in Self.differences(try request.json(), exchange.request) {
                let row = "\(exchange.endpoint) \(difference)"
                used.insert(row)
                #expect(Self.allowed[row] != nil, "\(row)")
            }
        }
        #expect(used == Set(Self.allowed.keys))
        #expect(asked == ["zones/list": 2, "records/query": 30, "records/modify": 4])
    }

    private func list(_ exchange: Exchange, _ transport: ScriptedTransport) async throws {
        let zones = try await exchange.database(transport).allRecordZones()
        let recorded = exchange.response["zones"] as? [[String: Any]] ?? []
        #expect(
            zones.map(\.zoneID.zoneName)
                == recorded.map { ($0["zoneID"] as? [String: Any])?["zoneName"] as? String })
    }

    private func query(_ exchange: Exchange, _ transport: ScriptedTransport) throws {
        let recorded = try #require(exchange.request["query"] as? [String: Any])
        var predicates: [NSPredicate] = []
        for filter in recorded["filterBy"] as? [[String: Any]] ?? [] {
            let value = try #require((filter["fieldValue"] as? [String: Any])?["value"])
            let key = try #require(filter["fieldName"] as? String)
            #expect(filter["comparator"] as? String == "EQUALS")
            if let text = value as? String {
                predicates.append(NSPredicate(format: "%K == %@", key, text))
            } else {
                predicates.append(NSPredicate(format: "%K == %d", key, try #require(value as? Int)))
            }
        }
        let query = CKQuery(
            recordType: try #require(recorded["recordType"] as? String),
            predicate: predicates.isEmpty
                ? NSPredicate(value: true) : NSCompoundPredicate(andPredicateWithSubpredicates: predicates))
        let operation = CKQueryOperation(query: query)
        operation.zoneID = exchange.zoneID
        operation.desiredKeys = exchange.request["desiredKeys"] as? [String]
        operation.resultsLimit = exchange.request["resultsLimit"] as? Int ?? 0
        let found = Collected<String>()
        operation.recordMatchedBlock = { id, result in
            if case .success(let record) = result, !record.recordType.isEmpty { found.append(id.recordName) }
        }
        exchange.database(transport).add(operation)
        #expect(found.all == exchange.records.map { $0["recordName"] as? String })
        if let marker = exchange.response["continuationMarker"] as? String, transport.requests.count > 1 {
            #expect(try transport.requests[1].json()["continuationMarker"] as? String == marker)
        }
    }

    private func modify(_ exchange: Exchange, _ transport: ScriptedTransport) async throws {
        let operations = try #require(exchange.request["operations"] as? [[String: Any]])
        let records = try operations.map { operation -> CKRecord in
            let recorded = try #require(operation["record"] as? [String: Any])
            var state = RecordState(
                recordType: try #require(recorded["recordType"] as? String),
                recordID: CKRecord.ID(
                    recordName: try #require(recorded["recordName"] as? String),
                    zoneID: try #require(exchange.zoneID)))
            state.changeTag = recorded["recordChangeTag"] as? String
            let record = CKRecord(state: state)
            let fields = recorded["fields"] as? [String: [String: Any]] ?? [:]
            for (key, field) in fields { record[key] = try #require(field["value"] as? Int) }
            return record
        }
        let result = try? await exchange.database(transport).modifyRecords(saving: records, deleting: [])
        // Some recordings have an answer without a body.
        guard !exchange.records.isEmpty else { return }
        let saved = try #require(try result?.saveResults[records[0].recordID]?.get())
        #expect(saved.recordChangeTag == exchange.records[0]["recordChangeTag"] as? String)
    }
}

import CloudService
import CloudStore
import CloudWire
import Foundation
import System
import Testing

/// Requests that others recorded with Apple's servers, asked of a service that holds what they were answered with. The
/// recordings are found through `YAP_FIXTURES`; they are no part of this project.
@Suite struct ReplayTests {
    /// Where our answers differ, and why they may: `endpoint path`, the path as `RecordedAnswer` writes it.
    private static let allowed: [String: String] = [
        "zones/list +zones[].atomic":
            "Apple's page on zones has the key; Apple's photo service leaves it out",
        "zones/list +zones[].syncToken":
            "Apple's page on zones has the key; some recordings have it, others not",
        "zones/list +zones[].deleted": "recordings of 2026 have the key, those of 2023 don't",
        "records/modify +records": "a recording of an empty answer, whose service had nothing to say",
        "records/modify -records[].expirationTime": "Apple's photo service forgets deleted photos by itself",
        "records/modify +records[].zoneID":
            "Apple left it out where the request names the zone; its page has it",
        "internal/records/query/batch +batch[].records[].fields.indexCountID":
            "Apple's photo service computes these answers; here a record must hold the field to be found by it",
        "records/query -records[].fields.masterRef.value.zoneID.zoneType": "recordings have it or not",
        "records/modify +syncToken": "the request asks for it, and the recorded answer is empty",
        "records/query -records[].fields.(not desired)":
            "an answer tells 23 fields and a damaged one that its desiredKeys don't name: here nothing beyond them is",
        "records/query -records[].fields.(of another type)":
            "a recording with a field that its recorder made STRING in one record, ENCRYPTED_BYTES in all others",
        "records/query -records[].fields.(out of its zone)":
            "whoever published the recording renamed a zone in some places only",
        "records/query -continuationMarker": "the recorded page had others behind it, here it is the last",
        "records/query -records[].expirationTime": "Apple's photo service forgets deleted photos by itself",
        "internal/records/query/batch -batch[].records[].zoneID.zoneType": "recordings have it or not",
        "records/query -records[].zoneID.zoneType": "recordings have it or not",
    ]

    @Test func recordedRequestsAreAnsweredInTheRecordedForm() throws {
        guard let folder = ProcessInfo.processInfo.environment["YAP_FIXTURES"] else {
            print("external fixtures: absent")
            return
        }
        let file = URL(fileURLWithPath: folder).appendingPathComponent(
            "cloudkit-web-services-exchanges.jsonl")
        var used = Set<String>()
        var counts = (exchanges: 0, records: 0)
        for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
            let exchange = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            let replay = try Replay(exchange)
            let answer = try replay.answer()
            counts.exchanges += 1
            counts.records += replay.recordsCount
            for difference in RecordedAnswer.differences(from: replay.recorded, to: answer) {
                let row = "\(replay.endpoint) \(difference)"
                used.insert(row)
                #expect(
                    Self.allowed[row] != nil, "\(row): \(replay.endpoint) of \(exchange["cassette"] ?? "")")
            }
        }
        let unused = Self.allowed.keys.filter { !used.contains($0) }.sorted()
        #expect(unused == [], "these differences no longer occur")
        #expect(counts.exchanges > 0)
        print("replayed exchanges: \(counts.exchanges), records: \(counts.records)")
    }
}

/// One recorded exchange, and a service that holds its records.
private struct Replay {
    let endpoint: String
    let recorded: Any
    private(set) var recordsCount = 0
    private var request: [String: Any]
    private let query: [(name: String, value: String)]
    private let cloud = TestService()

    init(_ exchange: [String: Any]) throws {
        let path = try #require(exchange["path"] as? String).split(separator: "/").map(String.init)
        // Nothing can be shared yet: what was asked of the shared database is asked of the owner's own.
        endpoint = path.dropFirst(5).joined(separator: "/")
        request = RecordedAnswer.owned(exchange["request"] as? [String: Any] ?? [:])
        query = (exchange["flags"] as? [String] ?? []).map { ($0, "true") }
        let response = RecordedAnswer.owned(exchange["response"] as? [String: Any] ?? [:])
        recorded = RecordedAnswer.marked(RecordedAnswer.replayable(response), asked: request)
        try makeZones(in: request, response)
        if endpoint == "records/modify" {
            try prepareModify(response)
        } else if let batch = request["batch"] as? [[String: Any]] {
            let answers = response["batch"] as? [[String: Any]] ?? []
            for (query, answer) in zip(batch, answers) { try fill(query, answer) }
        } else if endpoint == "records/query" {
            try fill(request, response)
        }
    }

    func answer() throws -> Any {
        let container = TestService.container
        let wire = WireRequest(
            path: "/database/1/\(container.identifier)/\(container.environment)/private/\(endpoint)",
            query: [("ckWebAuthToken", "ada")] + query,
            body: Array(try JSONSerialization.data(withJSONObject: request)))
        let response = cloud.service.respond(to: wire)
        try #require(response.status == 200, "\(endpoint): \(String(decoding: response.body, as: UTF8.self))")
        return try JSONSerialization.jsonObject(with: Data(response.body))
    }

    private mutating func makeZones(in bodies: [String: Any]...) throws {
        var names = Set<String>()
        func look(_ json: Any) {
            if let elements = json as? [Any] { elements.forEach(look) }
            guard let object = json as? [String: Any] else { return }
            if let name = object["zoneName"] as? String { names.insert(name) }
            object.values.forEach(look)
        }
        bodies.forEach(look)
        let zones = names.filter { $0 != ZoneID.defaultZoneName }.sorted().map { ZoneID(zoneName: $0) }
        if !zones.isEmpty { try cloud.zones(.create, zones) }
    }

    /// The records of an answer, under the type that was asked for and with what the filters ask for: Apple's photo
    /// service computes its answers, a database finds them.
    private mutating func fill(_ asked: [String: Any], _ answered: [String: Any]) throws {
        let query = try #require(asked["query"] as? [String: Any])
        let type = try #require(query["recordType"] as? String)
        let one = (query["filterBy"] as? [String: Any]).map { [$0] }
        let filters = one ?? query["filterBy"] as? [[String: Any]] ?? []
        var extra: [String: Field] = [:]
        for filter in filters {
            let name = try #require(filter["fieldName"] as? String)
            let value = (filter["fieldValue"] as? [String: Any])?["value"]
            switch (value as? [Any])?.first ?? value {
            case let text as String: extra[name] = Field(.string(text))
            case let number as NSNumber: extra[name] = Field(.int64(number.int64Value))
            default: Issue.record("a filter by \(name)")
            }
        }
        // The schema learns the type and the fields from a record that goes again: some answers hold none.
        let first = WireRecord(recordName: "first", recordType: type, fields: extra)
        try save(first, in: asked)
        try forget(first, in: asked)
        // Fields that nobody asked for are saved too, under their names: the answer must leave them out.
        var asked = asked
        asked["desiredKeys"] = nil
        let tellable = RecordedAnswer.marked(RecordedAnswer.replayable(answered), asked: asked)
        for object in tellable["records"] as? [[String: Any]] ?? [] {
            var record = try wireRecord(object)
            record.recordType = type
            record.fields = record.fields.filter { !$0.key.hasPrefix("(") }
            record.fields.merge(extra) { old, _ in old }
            try save(record, in: asked)
        }
    }

    private mutating func prepareModify(_ response: [String: Any]) throws {
        var operations = request["operations"] as? [[String: Any]] ?? []
        for index in operations.indices {
            var sent = try #require(operations[index]["record"] as? [String: Any])
            let saved = try save(try wireRecord(sent), in: request)
            sent["recordChangeTag"] = saved.recordChangeTag
            operations[index]["record"] = sent
        }
        request["operations"] = operations
    }

    private func wireRecord(_ object: [String: Any]) throws -> WireRecord {
        let bytes = Array(try JSONSerialization.data(withJSONObject: object))
        let read = try WireRecord(json: bytes)
        return WireRecord(recordName: read.recordName, recordType: read.recordType, fields: read.fields)
    }

    private func forget(_ record: WireRecord, in asked: [String: Any]) throws {
        let zone = (asked["zoneID"] as? [String: Any])?["zoneName"] as? String
        try cloud.modify(
            [RecordOperation(operationType: .forceDelete, record: record)],
            zone: zone.map { ZoneID(zoneName: $0) })
    }

    @discardableResult
    private mutating func save(_ record: WireRecord, in asked: [String: Any]) throws -> WireRecord {
        let zone = (asked["zoneID"] as? [String: Any])?["zoneName"] as? String
        let result = try cloud.modify(
            [RecordOperation(operationType: .forceReplace, record: record)],
            zone: zone.map { ZoneID(zoneName: $0) })
        recordsCount += 1
        return try #require(result.first?.record, "\(result)")
    }
}

/// What can be compared of an answer: which keys there are, and what kind of JSON is under them.
private enum RecordedAnswer {
    /// The answer without the fields that can't be saved again: files, whose bytes nobody recorded, and fields that the
    /// recorders damaged on purpose. `AssetTests` has the form of files.
    static func replayable(_ answer: [String: Any]) -> [String: Any] {
        answer.mapValues { value in
            guard let elements = value as? [[String: Any]] else { return value }
            return elements.map { element -> [String: Any] in
                var element = replayable(element)
                if let fields = element["fields"] as? [String: Any] {
                    element["fields"] = fields.filter { isReplayable($0.value) }
                }
                return element
            }
        }
    }

    /// The answer with what can't be told again under names that say why: `(of another type)` for a field that has
    /// another type than in most of the records, since in a database a field has one, `(out of its zone)` for a
    /// reference that no database takes, and `(not desired)` for what the request didn't ask for.
    static func marked(_ answer: [String: Any], asked: [String: Any]) -> [String: Any] {
        guard let records = answer["records"] as? [[String: Any]] else { return answer }
        let desired = (asked["desiredKeys"] as? [String]).map { Set($0) } ?? []
        let isUsual = usualTypes(records)
        let zone = (asked["zoneID"] as? [String: Any])?["zoneName"] as? String ?? ZoneID.defaultZoneName
        var answer = answer
        answer["records"] = records.map { record -> [String: Any] in
            guard let fields = record["fields"] as? [String: Any] else { return record }
            let pairs = fields.map { name, field -> (String, Any) in
                if !isUsual(name, field) { return ("(of another type)", field) }
                if refers(field, outOf: zone) { return ("(out of its zone)", field) }
                return (desired.isEmpty || desired.contains(name) ? name : "(not desired)", field)
            }
            return record.merging(["fields": Dictionary(pairs) { first, _ in first }]) { $1 }
        }
        return answer
    }

    private static func usualTypes(_ records: [[String: Any]]) -> (String, Any) -> Bool {
        func type(_ field: Any) -> String { (field as? [String: Any])?["type"] as? String ?? "" }
        var counts: [String: [String: Int]] = [:]
        for (name, field) in records.flatMap({ $0["fields"] as? [String: Any] ?? [:] }) {
            counts[name, default: [:]][type(field), default: 0] += 1
        }
        let usual = counts.mapValues { types in types.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key }
        return { name, field in usual[name] == type(field) }
    }

    private static func refers(_ json: Any, outOf zoneName: String) -> Bool {
        if let elements = json as? [Any] { return elements.contains { refers($0, outOf: zoneName) } }
        guard let object = json as? [String: Any] else { return false }
        if let zone = object["zoneID"] as? [String: Any] { return zone["zoneName"] as? String != zoneName }
        return object["value"].map { refers($0, outOf: zoneName) } ?? false
    }

    /// The same with the test's user as the owner of every zone.
    static func owned(_ object: [String: Any]) -> [String: Any] {
        func owned(_ json: Any) -> Any {
            if let elements = json as? [Any] { return elements.map(owned) }
            return (json as? [String: Any]).map { Self.owned($0) } ?? json
        }
        var object = object.mapValues(owned)
        if object["ownerRecordName"] != nil { object["ownerRecordName"] = TestService.ada.userRecordName }
        return object
    }

    private static func isReplayable(_ field: Any) -> Bool {
        guard let field = field as? [String: Any], let value = field["value"],
            let type = field["type"] as? String
        else { return false }
        guard !type.hasPrefix("ASSETID"), type != "UNKNOWN_LIST" else { return false }
        guard type == "BYTES" || type == "ENCRYPTED_BYTES" else { return true }
        return (value as? String).flatMap { Data(base64Encoded: $0) } != nil
    }

    /// As `+path` for a key that only ours has, `-path` for one that only the recorded one has, and `path: kinds`.
    static func differences(from recorded: Any, to ours: Any, at path: String = "") -> Set<String> {
        if let left = recorded as? [Any], let right = ours as? [Any] {
            return elements(left, right, at: path)
        }
        guard let left = recorded as? [String: Any], let right = ours as? [String: Any] else {
            let kinds = (kind(recorded), kind(ours))
            return kinds.0 == kinds.1 ? [] : ["\(path): \(kinds.0) became \(kinds.1)"]
        }
        var found = Set<String>()
        for key in Set(left.keys).union(right.keys) {
            let path = path.isEmpty ? key : "\(path).\(key)"
            switch (left[key], right[key]) {
            case (let first?, let second?): found.formUnion(differences(from: first, to: second, at: path))
            case (nil, _?): found.insert("+\(path)")
            case (_?, nil): found.insert("-\(path)")
            case (nil, nil): continue
            }
        }
        return found
    }

    private static func elements(_ left: [Any], _ right: [Any], at path: String) -> Set<String> {
        // Records by name, zones by name: a database has an order of its own.
        let byName = Dictionary(right.compactMap { element in name(element).map { ($0, element) } }) {
            first, _ in first
        }
        var found = Set<String>()
        for (index, element) in left.enumerated() {
            let other = name(element).map { byName[$0] } ?? (index < right.count ? right[index] : nil)
            guard let other else {
                found.insert("-\(path)[]")
                continue
            }
            found.formUnion(differences(from: element, to: other, at: "\(path)[]"))
        }
        return found
    }

    private static func name(_ element: Any) -> String? {
        guard let object = element as? [String: Any] else { return nil }
        return object["recordName"] as? String ?? (object["zoneID"] as? [String: Any])?["zoneName"] as? String
    }

    private static func kind(_ value: Any) -> String {
        switch value {
        case is NSNull: "null"
        case let number as NSNumber where String(cString: number.objCType) == "c": "boolean"
        case is NSNumber: "number"
        case is String: "string"
        case is [Any]: "array"
        default: "object"
        }
    }
}

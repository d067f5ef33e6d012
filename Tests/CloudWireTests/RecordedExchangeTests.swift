import CloudWire
import Foundation
import Testing

/// Exchanges that others recorded with Apple's servers, found through `YAP_FIXTURES`; not part of this
/// project.
@Suite struct RecordedExchangeTests {
    private static let folder = ProcessInfo.processInfo.environment["YAP_FIXTURES"].map {
        URL(fileURLWithPath: $0)
    }

    /// Keys that stand in the recordings and have no place in our model.
    private static let keysWithoutModel: Set = [
        "expirationTime", "participants", "publicPermission", "owner", "currentUserParticipant", "requesters",
        "blocked", "denyAccessRequests",
    ]

    /// Fields that the recordings have without a value or with damaged base64.
    private static let damagedFields: Set = ["itemType", "filenameEnc", "albumNameEnc", "timeZoneNameEnc"]

    @Test func allAreReadByTheirModelAndWrittenEqual() throws {
        guard let folder = Self.folder else {
            print("external fixtures: absent")
            return
        }
        var expected: [String: Int] = [:]
        var typed: [String: Int] = [:]
        var count = 0
        let lines = try Data(
            contentsOf: folder.appendingPathComponent("cloudkit-web-services-exchanges.jsonl"))
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            let exchange = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            let original = try ForeignJSON(Array(line))
            let path = try #require(exchange["path"] as? String)
            for direction in ["request", "response"] {
                guard let body = exchange[direction] as? [String: Any], let original = original[direction]
                else {
                    continue
                }
                let bytes = Array(try JSONSerialization.data(withJSONObject: body))
                try check(bytes, original, as: "\(endpoint(path)) \(direction)", &expected, &typed)
                count += 1
            }
        }
        for file in files(in: folder.appendingPathComponent("fixtures")) {
            let bytes = Array(try Data(contentsOf: file))
            let original = try ForeignJSON(bytes)
            guard let name = shapeName(of: original, file.lastPathComponent) else { continue }
            try check(bytes, original, as: name, &expected, &typed)
            count += 1
        }
        #expect(expected == typed, "each field with a type became a typed field")
        print("external fixtures: \(count)")
        let counts = typed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print("typed fields: \(counts.joined(separator: ", "))")
    }

    private func check(
        _ bytes: [UInt8], _ original: ForeignJSON, as name: String, _ expected: inout [String: Int],
        _ typed: inout [String: Int]
    ) throws {
        let shape = try #require(MessageShape.byName[name], "no model for \(name)")
        let message = try shape.decode(bytes)
        let difference = try original.readingBooleansOfFields.difference(from: ForeignJSON(message.json()))
        #expect(difference == nil, "\(name)")
        original.countFieldTypes(into: &expected)
        for record in message.recordsInside {
            #expect(
                Self.keysWithoutModel.isSuperset(of: record.unknown.keys), "\(record.unknown.keys.sorted())")
            for field in record.fields.values {
                if let type = field.type { typed[type.rawValue, default: 0] += 1 }
            }
            #expect(Self.damagedFields.isSuperset(of: record.unreadableFields.keys))
            for case .object(let field) in record.unreadableFields.values where field["value"] != nil {
                if case .string(let type)? = field["type"] { typed[type, default: 0] += 1 }
            }
            let fields = try FieldsBinary.decode(FieldsBinary.encode(record.fields))
            #expect(fields == record.fields)
        }
    }

    /// `records/query/batch` of `/database/1/.../private/internal/records/query/batch`.
    private func endpoint(_ path: String) -> String {
        let parts = path.split(separator: "?")[0].split(separator: "/").map(String.init)
        let entity = parts.lastIndex { ["records", "zones", "changes"].contains($0) } ?? 0
        return parts[entity...].joined(separator: "/")
    }

    private func files(in folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return (all ?? []).filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }

    /// The shape of a file that holds one body; nil for those that are no body of an endpoint we have.
    private func shapeName(of json: ForeignJSON, _ name: String) -> String? {
        if json["requestUUID"] != nil || json["note"] != nil { return nil }
        if json["operations"] != nil { return "records/modify request" }
        if json["records"] != nil { return "records/query response" }
        guard case .array(let zones)? = json["zones"] else { return nil }
        if name.contains("changes") && name.contains("request") { return "changes/zone request" }
        return zones.contains { $0["records"] != nil } ? "changes/zone response" : "changes/database response"
    }
}

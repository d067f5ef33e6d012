import CBenchmarks
import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// Saves of records whose fields have the indexes that development makes, against the same saves with fields without:
/// in one thread and without HTTP.
func indexedSaveLine() -> Line {
    Line(name: "service.save.indexed", unit: "records/s", roundsCount: 5) { try IndexedSaveRun(in: $0) }
}

private final class IndexedSaveRun: LineRun {
    private static let requestsCount = 40
    private static let recordsARequest = 50
    /// Eight fields, of which development indexes each; the texts have four, twelve and one word.
    private static let fields = [
        "title STRING", "body STRING", "isDone INT64", "priority INT64", "estimateHours DOUBLE",
        "created TIMESTAMP",
        "project STRING", "tags LIST<STRING>",
    ]
    private static let zone = ZoneKey(
        database: .privateDatabase(of: ServiceRequests.userRecordName), zoneName: "notes")

    private let indexed: SaveTarget
    private let plain: SaveTarget
    private let names = ServiceRequests(seed: 7)

    init(in folder: URL) throws {
        let marks = { (field: String) in
            let type = field.split(separator: " ")[1]
            return field
                + (type == "STRING"
                    ? " QUERYABLE SORTABLE SEARCHABLE"
                    : type == "LIST<STRING>" ? " QUERYABLE SEARCHABLE" : " QUERYABLE SORTABLE")
        }
        indexed = try SaveTarget(folder.appendingPathComponent("indexed.sqlite").path, Self.fields.map(marks))
        plain = try SaveTarget(folder.appendingPathComponent("plain.sqlite").path, Self.fields)
    }

    func ours() throws -> Double { try rate(of: indexed) }
    func reference() throws -> Double { try rate(of: plain) }

    private func rate(of target: SaveTarget) throws -> Double {
        let bodies = (0..<Self.requestsCount).map { _ in
            ServiceRequests.saveBody(names.names(Self.recordsARequest))
        }
        let start = load_nanoseconds()
        for body in bodies { try target.ask("records/modify", body) }
        return Double(Self.requestsCount * Self.recordsARequest)
            / (Double(load_nanoseconds() - start) / 1e9)
    }

    func remarks() throws -> [LineRemark] {
        let text = String(
            format: "rows written a record: %.1f, without indexes %.1f", try indexed.rowsARecord(Self.zone),
            try plain.rowsARecord(Self.zone))
        return [LineRemark(text: text)]
    }

    func close() {
        indexed.store.close()
        plain.store.close()
    }
}

/// A service that takes saves.
private struct SaveTarget {
    let store: SQLiteCloudStore
    private let service: CloudService

    init(_ path: String, _ fields: [String]) throws {
        store = try SQLiteCloudStore(path: path)
        let schema = """
            DEFINE SCHEMA RECORD TYPE Note (
                "___recordID" REFERENCE QUERYABLE, \(fields.joined(separator: ", ")), GRANT READ TO "_world"
            );
            """
        var changes = StoreChanges()
        changes.schema = SchemaRow(version: 1, content: Array(schema.utf8))
        try store.write { [changes] in try $0.apply(changes) }
        service = CloudService(
            store: store, clock: SystemTimeSource(), random: SeededRandomSource(seed: 8),
            users: [ServiceRequests.token: ServiceUser(userRecordName: ServiceRequests.userRecordName)])
        try ask(
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":\#(ServiceRequests.zone)}}]}"#)
    }

    func ask(_ action: String, _ body: String) throws {
        let request = WireRequest(
            path: "/database/1/\(ServiceRequests.container)/development/private/\(action)",
            query: [("ckWebAuthToken", ServiceRequests.token)], body: Array(body.utf8))
        let answer = String(decoding: service.respond(to: request).body, as: UTF8.self)
        guard !answer.contains("serverErrorCode") else { throw BenchError(String(answer.prefix(300))) }
    }

    /// The record, its list of entries, and its entries.
    func rowsARecord(_ zone: ZoneKey) throws -> Double {
        try store.read { reader in
            let rows = try reader.records(in: zone, after: nil, recordsMax: 1_000, bytesMax: .max).rows
            let entries = try rows.reduce(0) { count, row in
                count + (try reader.entries(of: row.key, recordType: row.recordType)?.count ?? 0)
            }
            return 2 + Double(entries) / Double(max(1, rows.count))
        }
    }
}

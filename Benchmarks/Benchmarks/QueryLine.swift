import CBenchmarks
import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// A page of a query on an index over 1,000,000 records, in one thread and without HTTP, against C that runs the
/// service's own statement and reads each row.
func queryLine() -> Line {
    Line(name: "service.query", unit: "pages/s", bar: 0.2, roundsCount: 5) { try QueryRun(in: $0) }
}

private final class QueryRun: LineRun {
    private static let recordsCount = 1_000_000
    private static let pagesCount = 400
    private static let pageRecords = 200

    private let path: String
    private let service: CloudService
    private let store: SQLiteCloudStore
    private let reader: OpaquePointer
    private let random = SeededRandomSource(seed: 5)

    /// The service's statement for the rows of an index behind a value, with its fixed parts filled in.
    private static let sql = """
        SELECT e.value, e.name, r.type, r.isDeleted, r.tagEpoch, r.counter, r.parent, r.createdMilliseconds,
        r.createdUser, r.createdDevice, r.modifiedMilliseconds, r.modifiedUser, r.modifiedDevice,
        CASE WHEN r.fieldsRow IS NULL THEN r.fields
        ELSE (SELECT l.fields FROM largeFields AS l WHERE l.id = r.fieldsRow) END
        FROM indexEntries e CROSS JOIN records r ON r.scope = 2 AND r.owner = '\(ServiceRequests.userRecordName)'
        AND r.zone = '_defaultZone' AND r.name = e.name
        WHERE e.part = 1 AND e.field = 'rank' AND e.kind = 2 AND e.value >= ?1
        ORDER BY e.value, e.name LIMIT \(pageRecords + 1)
        """

    init(in folder: URL) throws {
        path = folder.appendingPathComponent("query.sqlite").path
        store = try SQLiteCloudStore(path: path)
        try RankedNotes.fill(store, of: ServiceRequests.userRecordName, recordsCount: Self.recordsCount)
        service = CloudService(
            store: store, clock: SystemTimeSource(), random: SeededRandomSource(seed: 6),
            users: [ServiceRequests.token: ServiceUser(userRecordName: ServiceRequests.userRecordName)])
        guard let reader = query_open(path, Self.sql) else {
            throw BenchError("the reference can't open \(path)")
        }
        self.reader = reader
    }

    private func ranks() -> [Int64] {
        (0..<Self.pagesCount).map { _ in Int64(random.next(in: 0..<Self.recordsCount / 2 - Self.pageRecords))
        }
    }

    func ours() throws -> Double {
        let requests = ranks().map { rank in
            WireRequest(
                path: "/database/1/\(ServiceRequests.container)/development/private/records/query",
                query: [("ckWebAuthToken", ServiceRequests.token)],
                body: Array(
                    (#"{"query":{"recordType":"Note","filterBy":[{"comparator":"GREATER_THAN_OR_EQUALS","#
                        + #""fieldName":"rank","fieldValue":{"value":\#(rank)}}],"sortBy":[{"fieldName":"rank"}]}}"#)
                        .utf8))
        }
        let start = load_nanoseconds()
        for request in requests {
            let response = service.respond(to: request)
            guard response.status == 200, response.body.count > 200 * Self.pageRecords else {
                throw BenchError(String(decoding: response.body.prefix(300), as: UTF8.self))
            }
        }
        return Double(Self.pagesCount) / (Double(load_nanoseconds() - start) / 1e9)
    }

    func reference() throws -> Double {
        let values = ranks().map(RankedNotes.indexValue)
        var bytes: Int64 = 0
        let start = load_nanoseconds()
        for value in values {
            guard query_run(reader, 1, value, value.count, &bytes) == Self.pageRecords + 1 else {
                throw BenchError("the reference found another number of rows")
            }
        }
        return Double(Self.pagesCount) / (Double(load_nanoseconds() - start) / 1e9)
    }

    func close() {
        query_close(reader)
        store.close()
    }
}

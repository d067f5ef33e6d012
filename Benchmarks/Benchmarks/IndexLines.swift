import CBenchmarks
import Foundation
import System
import Yap

/// Queries on an index of the device's database, against C that runs the same statement and reads each row's bytes.
func indexLines() -> [Line] {
    [
        Line(name: "yap.index.keys", unit: "queries/s", bar: 0.7, roundsCount: 5) {
            try IndexRun(in: $0, reads: .keys)
        },
        Line(name: "yap.index.rows", unit: "queries/s", roundsCount: 5) {
            try IndexRun(in: $0, reads: .rows)
        },
    ]
}

/// Which pages of 50 rows in the order of a column, from a random value on.
private final class IndexRun: LineRun {
    enum Reads: String { case keys = "d.key", rows = "d.rowid, d.key, d.data" }

    private static let rowsCount = 100_000
    private static let queriesCount = 2_000
    private static let limit = 50

    private let workload: Workload
    private let connection: YapDatabaseConnection
    private let index: YapDatabaseSecondaryIndex<Note>
    private let reader: OpaquePointer
    private let reads: Reads
    private let titles: [String]
    private let registrationSeconds: Double

    init(in folder: URL, reads: Reads) throws {
        let workload = try Workload(rowsCount: Self.rowsCount)
        let index = YapDatabaseSecondaryIndex(
            "byTitle", of: Note.self, in: Workload.collection, version: "1"
        ) {
            $0.column(\.title, "title")
            $0.column(\.priority)
        }
        let database = try Ours.database(in: folder)
        connection = database.newConnection()
        try connection.blocking.readWrite { try $0.setAll(workload) }
        let registration = try rate(1) { try database.blocking.register(index) }
        registrationSeconds = 1 / registration
        let random = SeededRandomSource(seed: 7)
        titles = (0..<Self.queriesCount).map { _ in workload.notes[random.next(in: 0..<Self.rowsCount)].title
        }
        let sql = """
            SELECT \(reads.rawValue) FROM "secondaryIndex_byTitle" AS i CROSS JOIN database2 AS d ON d.rowid = i.rowid
            WHERE i.title >= CAST(?1 AS TEXT) ORDER BY i.title LIMIT \(Self.limit)
            """
        guard let reader = query_open(database.path, sql) else {
            throw BenchError("the reference can't open \(database.path)")
        }
        (self.workload, self.index, self.reader, self.reads) = (workload, index, reader, reads)
    }

    func ours() throws -> Double {
        let (index, titles, reads) = (index, titles, reads)
        return try rate(titles.count) {
            try connection.blocking.read { transaction in
                let query = try transaction[index]
                for title in titles {
                    switch reads {
                    case .keys:
                        _ = try query.keys(
                            where: { $0.title >= title }, sort: [.by(\.title)], limit: Self.limit)
                    case .rows:
                        _ = try query.rows(
                            where: { $0.title >= title }, sort: [.by(\.title)], limit: Self.limit)
                    }
                }
            }
        }
    }

    func reference() throws -> Double {
        try rate(titles.count) {
            var bytes: Int64 = 0
            for title in titles {
                let value = Array(title.utf8)
                guard query_run(reader, 1, value, value.count, &bytes) >= 0 else {
                    throw BenchError("the reference's query failed")
                }
            }
        }
    }

    func remarks() -> [LineRemark] {
        let text = String(format: "filling it with %d rows took %.2f s", Self.rowsCount, registrationSeconds)
        return [LineRemark(text: text)]
    }

    func close() { query_close(reader) }
}

import CBenchmarks
import Foundation
import System
import Yap

/// Full-text searches on the device's database, against C that runs the same statement and reads each row's bytes.
func searchLines() -> [Line] {
    [
        Line(name: "yap.search.keys", unit: "queries/s", bar: 0.7, roundsCount: 5) {
            try SearchRun(in: $0, reads: .keys)
        },
        Line(name: "yap.search.rows", unit: "queries/s", roundsCount: 5) {
            try SearchRun(in: $0, reads: .rows)
        },
    ]
}

/// Which 20 rows are the best for a word, which about 300 rows of 100,000 have.
private final class SearchRun: LineRun {
    enum Reads: String { case keys = "d.key", rows = "d.rowid, d.key, d.data, i.rank" }

    private static let rowsCount = 100_000
    private static let wordsCount = 4_000
    private static let wordsPerRow = 12
    private static let queriesCount = 1_000
    private static let limit = 20

    private let connection: YapDatabaseConnection
    private let search: YapDatabaseFullTextSearch<Note>
    private let reader: OpaquePointer
    private let reads: Reads
    private let words: [String]
    private let registrationSeconds: Double

    init(in folder: URL, reads: Reads) throws {
        let random = SeededRandomSource(seed: 8)
        func word() -> String {
            String((0..<7).map { _ in Character(UnicodeScalar(UInt8(97 + random.next(in: 0..<26)))) })
        }
        let vocabulary = (0..<Self.wordsCount).map { _ in word() }
        func anyWord() -> String { vocabulary[random.next(in: 0..<vocabulary.count)] }

        let workload = try Workload(rowsCount: Self.rowsCount)
        let search = YapDatabaseFullTextSearch("text", of: Note.self, in: Workload.collection, version: "1") {
            $0.column(\.title, weight: 4)
            $0.column(\.body)
        }
        let database = try Ours.database(in: folder)
        connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for (key, var note) in zip(workload.keys, workload.notes) {
                note.body = (0..<Self.wordsPerRow).map { _ in anyWord() }.joined(separator: " ")
                try transaction.setObject(note, forKey: key, inCollection: Workload.collection)
            }
        }
        registrationSeconds = 1 / (try rate(1) { try database.blocking.register(search) })
        words = (0..<Self.queriesCount).map { _ in anyWord() }
        let sql = """
            SELECT \(reads.rawValue) FROM "fullText_text" AS i CROSS JOIN database2 AS d ON d.rowid = i.rowid
            WHERE i."fullText_text" MATCH CAST(?1 AS TEXT) AND i.rank MATCH 'bm25(4.0, 1.0)'
            ORDER BY i.rank LIMIT \(Self.limit)
            """
        guard let reader = query_open(database.path, sql) else {
            throw BenchError("the reference can't open \(database.path)")
        }
        (self.search, self.reader, self.reads) = (search, reader, reads)
    }

    func ours() throws -> Double {
        let (search, words, reads) = (search, words, reads)
        return try rate(words.count) {
            try connection.blocking.read { transaction in
                let search = try transaction[search]
                for word in words {
                    switch reads {
                    case .keys: _ = try search.keys(.words(word), limit: Self.limit)
                    case .rows: _ = try search.matches(.words(word), limit: Self.limit)
                    }
                }
            }
        }
    }

    func reference() throws -> Double {
        try rate(words.count) {
            var bytes: Int64 = 0
            for word in words {
                let value = Array("\"\(word)\"".utf8)
                guard query_run(reader, 1, value, value.count, &bytes) >= 0 else {
                    throw BenchError("the reference's search failed")
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

import Foundation
import GRDB
import Yap

/// Queries on an index and full-text searches, with Yap's statements in GRDB: a table for the columns of the index and
/// one for the search, each with the rowids of the notes.
func queryLines() -> [Line] {
    [
        Line(name: "grdb.index.keys", unit: "queries/s", roundsCount: 5) {
            try IndexRun(in: $0, withRows: false)
        },
        Line(name: "grdb.index.rows", unit: "queries/s", roundsCount: 5) {
            try IndexRun(in: $0, withRows: true)
        },
        Line(name: "grdb.search.keys", unit: "queries/s", roundsCount: 5) {
            try SearchRun(in: $0, withRows: false)
        },
        Line(name: "grdb.search.rows", unit: "queries/s", roundsCount: 5) {
            try SearchRun(in: $0, withRows: true)
        },
    ]
}

private let rowsCount = 100_000

/// The pool's answers to a statement with one argument: keys, or objects.
private func answer(
    _ pool: DatabasePool, _ values: [String], _ withRows: Bool, sql: @Sendable (_ selection: String) -> String
) throws -> Double {
    try rate(values.count) {
        try pool.read { db in
            let statement = try db.cachedStatement(sql: sql(withRows ? "n.key, n.data" : "n.key"))
            for value in values {
                guard withRows else {
                    _ = try String.fetchAll(statement, arguments: [value])
                    continue
                }
                for stored in try StoredNote.fetchAll(statement, arguments: [value]) {
                    consume(try stored.note())
                }
            }
        }
    }
}

/// Pages of 50 rows in the order of a column, from a random value on.
private final class IndexRun: LineRun {
    private let connection: YapDatabaseConnection
    private let index: YapDatabaseSecondaryIndex<Note>
    private let pool: DatabasePool
    private let titles: [String]
    private let withRows: Bool

    init(in folder: URL, withRows: Bool) throws {
        let rows = Rows(count: rowsCount)
        index = YapDatabaseSecondaryIndex("byTitle", of: Note.self, in: Rows.collection, version: "1") {
            $0.column(\.title, "title")
            $0.column(\.priority)
        }
        let database = try YapSide.filled(rows, in: folder)
        try database.blocking.register(index)
        connection = database.newConnection()
        pool = try GRDBSide.filled(rows, in: folder)
        try pool.write { db in
            try db.execute(
                sql: "CREATE TABLE noteIndex (rowid INTEGER PRIMARY KEY, title TEXT, priority INTEGER)")
            for (row, note) in rows.notes.enumerated() {
                try db.execute(
                    sql: "INSERT INTO noteIndex (rowid, title, priority) VALUES (?, ?, ?)",
                    arguments: [row + 1, note.title, note.priority])
            }
            try db.execute(sql: "CREATE INDEX noteByTitle ON noteIndex (title)")
            try db.execute(sql: "CREATE INDEX noteByPriority ON noteIndex (priority)")
        }
        var random = SplitMix(state: 7)
        titles = (0..<2_000).compactMap { _ in rows.notes.randomElement(using: &random)?.title }
        self.withRows = withRows
    }

    func ours() throws -> Double {
        let (index, titles, withRows) = (index, titles, withRows)
        return try rate(titles.count) {
            try connection.blocking.read { transaction in
                let query = try transaction[index]
                for title in titles {
                    if withRows {
                        _ = try query.rows(where: { $0.title >= title }, sort: [.by(\.title)], limit: 50)
                    } else {
                        _ = try query.keys(where: { $0.title >= title }, sort: [.by(\.title)], limit: 50)
                    }
                }
            }
        }
    }

    func reference() throws -> Double {
        try answer(pool, titles, withRows) { selection in
            """
            SELECT \(selection) FROM noteIndex AS i CROSS JOIN note AS n ON n.id = i.rowid
            WHERE i.title >= ? ORDER BY i.title LIMIT 50
            """
        }
    }
}

/// The 20 best rows for a word, which about 300 rows of 100,000 have.
private final class SearchRun: LineRun {
    private let connection: YapDatabaseConnection
    private let search: YapDatabaseFullTextSearch<Note>
    private let pool: DatabasePool
    private let words: [String]
    private let withRows: Bool

    init(in folder: URL, withRows: Bool) throws {
        var vocabulary = Words()
        let rows = Rows(count: rowsCount, words: vocabulary)
        search = YapDatabaseFullTextSearch("text", of: Note.self, in: Rows.collection, version: "1") {
            $0.column(\.title, weight: 4)
            $0.column(\.body)
        }
        let database = try YapSide.filled(rows, in: folder)
        try database.blocking.register(search)
        connection = database.newConnection()
        pool = try GRDBSide.filled(rows, in: folder)
        try pool.write { db in
            try db.create(virtualTable: "noteText", using: FTS5()) { table in
                table.column("title")
                table.column("body")
            }
            for (row, note) in rows.notes.enumerated() {
                try db.execute(
                    sql: "INSERT INTO noteText (rowid, title, body) VALUES (?, ?, ?)",
                    arguments: [row + 1, note.title, note.body])
            }
        }
        words = (0..<1_000).map { _ in vocabulary.word() }
        self.withRows = withRows
    }

    func ours() throws -> Double {
        let (search, words, withRows) = (search, words, withRows)
        return try rate(words.count) {
            try connection.blocking.read { transaction in
                let search = try transaction[search]
                for word in words {
                    if withRows {
                        _ = try search.matches(.words(word), limit: 20)
                    } else {
                        _ = try search.keys(.words(word), limit: 20)
                    }
                }
            }
        }
    }

    func reference() throws -> Double {
        try answer(pool, words.map { "\"\($0)\"" }, withRows) { selection in
            """
            SELECT \(selection) FROM noteText AS i CROSS JOIN note AS n ON n.id = i.rowid
            WHERE i.noteText MATCH ? AND i.rank MATCH 'bm25(4.0, 1.0)' ORDER BY i.rank LIMIT 20
            """
        }
    }
}

import Foundation
import GRDB
import Yap

/// Writing and reading rows. Each line is there twice: with the bytes that Yap stores, and with a column for each
/// property.
func databaseLines() -> [Line] {
    let rows = Rows(count: 20_000)
    return writeLines(rows) + readLines(rows) + iterateLines(rows) + sizeLines(rows)
}

private func writeLines(_ rows: Rows) -> [Line] {
    let ours: Line.Measure = { folder in
        let connection = try YapSide.database(in: folder).newConnection()
        return try rate(rows.keys.count) { try connection.blocking.readWrite { try $0.setAll(rows) } }
    }
    return [
        Line(
            name: "grdb.write.bulk", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.pool(in: folder)
                return try rate(rows.keys.count) { try pool.write { try $0.insertAll(rows) } }
            }),
        Line(
            name: "grdb.write.bulk.columns", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.pool(in: folder)
                return try rate(rows.keys.count) { try pool.write { try $0.insertAllColumns(rows) } }
            }),
    ]
}

private func readLines(_ rows: Rows) -> [Line] {
    let ours: Line.Measure = { folder in
        let connection = try YapSide.filled(rows, in: folder).newConnection()
        return try rate(rows.readKeys.count) { try connection.blocking.read { try $0.getAll(rows.readKeys) } }
    }
    return [
        Line(
            name: "grdb.read.uncached", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.filled(rows, in: folder)
                return try rate(rows.readKeys.count) {
                    try pool.read { db in
                        let statement = try db.cachedStatement(
                            sql: "SELECT key, data FROM note WHERE key = ?")
                        for key in rows.readKeys {
                            guard let stored = try StoredNote.fetchOne(statement, arguments: [key]) else {
                                throw MissingRow(key: key)
                            }
                            consume(try stored.note())
                        }
                    }
                }
            }),
        Line(
            name: "grdb.read.uncached.columns", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.filledColumns(rows, in: folder)
                return try rate(rows.readKeys.count) {
                    try pool.read { db in
                        for key in rows.readKeys {
                            guard let stored = try NoteColumns.fetchOne(db, key: key) else {
                                throw MissingRow(key: key)
                            }
                            consume(stored.note)
                        }
                    }
                }
            }),
    ]
}

private func iterateLines(_ rows: Rows) -> [Line] {
    let ours: Line.Measure = { folder in
        let connection = try YapSide.filled(rows, in: folder).newConnection()
        return try rate(rows.keys.count) {
            try connection.blocking.read { transaction in
                for row in try transaction.objects(Note.self, inCollection: Rows.collection) {
                    consume(row.object)
                }
            }
        }
    }
    return [
        Line(
            name: "grdb.read.iterate", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.filled(rows, in: folder)
                return try rate(rows.keys.count) {
                    try pool.read { db in
                        let cursor = try StoredNote.fetchCursor(
                            db, sql: "SELECT key, data FROM note ORDER BY key")
                        while let stored = try cursor.next() { consume(try stored.note()) }
                    }
                }
            }),
        Line(
            name: "grdb.read.iterate.columns", unit: "rows/s", ours: ours,
            reference: { folder in
                let pool = try GRDBSide.filledColumns(rows, in: folder)
                return try rate(rows.keys.count) {
                    try pool.read { db in
                        let cursor = try NoteColumns.fetchCursor(
                            db, sql: "SELECT * FROM noteColumns ORDER BY key")
                        while let stored = try cursor.next() { consume(stored.note) }
                    }
                }
            }),
    ]
}

private func sizeLines(_ rows: Rows) -> [Line] {
    let ours: Line.Measure = { folder in
        let database = try YapSide.filled(rows, in: folder)
        try await database.close()
        return try rowsPerMegabyte(rows, database.path)
    }
    return [
        Line(
            name: "grdb.file.size", unit: "rows/MB", ours: ours,
            reference: { folder in
                try GRDBSide.filled(rows, in: folder).close()
                return try rowsPerMegabyte(rows, GRDBSide.path(in: folder))
            }),
        Line(
            name: "grdb.file.size.columns", unit: "rows/MB", ours: ours,
            reference: { folder in
                try GRDBSide.filledColumns(rows, in: folder).close()
                return try rowsPerMegabyte(rows, GRDBSide.path(in: folder))
            }),
    ]
}

/// How many rows a file has for each megabyte of it and of its log.
private func rowsPerMegabyte(_ rows: Rows, _ path: String) throws -> Double {
    let bytes = try [path, path + "-wal"].filter(FileManager.default.fileExists(atPath:)).reduce(0) {
        sum, path in
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return sum + (attributes[.size] as? Int ?? 0)
    }
    return Double(rows.keys.count) / (Double(bytes) / 1e6)
}

import Foundation
import Yap

/// Writing and reading rows: ours with encoding and decoding, C with bytes that are ready.
func databaseLines() throws -> [Line] {
    let workload = try Workload(rowsCount: 20_000)
    let written = ReferenceRows(workload, order: Array(workload.keys.indices))
    let read = ReferenceRows(workload, order: workload.readOrder)
    let readKeys = workload.readOrder.map { workload.keys[$0] }
    let dictionary = Dictionary(uniqueKeysWithValues: zip(workload.keys, workload.notes))
    return [
        Line(
            name: "yap.write.bulk", unit: "rows/s",
            ours: { folder in
                let connection = try Ours.database(in: folder).newConnection()
                return try rate(written.rows.count) {
                    try connection.blocking.readWrite { try $0.setAll(workload) }
                }
            },
            reference: { folder in
                let reference = try Reference(folder: folder, template: Ours.template(in: folder))
                return try rate(written.rows.count) { try reference.insertInOneTransaction(written.rows) }
            }),
        Line(
            name: "yap.read.uncached", unit: "rows/s",
            ours: { folder in
                let connection = try Ours.filled(workload, in: folder, cachedRows: 0).newConnection()
                return try rate(readKeys.count) { try connection.blocking.read { try $0.getAll(readKeys) } }
            },
            reference: { folder in
                let reference = try Reference(folder: folder, template: Ours.template(in: folder))
                try reference.insertInOneTransaction(written.rows)
                return try rate(read.rows.count) { try reference.read(read.rows) }
            }),
        Line(
            name: "yap.read.cached", unit: "rows/s",
            ours: { folder in
                let connection = try Ours.filled(workload, in: folder, cachedRows: readKeys.count)
                    .newConnection()
                // The first time fills the cache.
                _ = try rate(1) { try connection.blocking.read { try $0.getAll(readKeys) } }
                return try rate(readKeys.count * 10) {
                    try connection.blocking.read { for _ in 0..<10 { try $0.getAll(readKeys) } }
                }
            },
            reference: { _ in
                try rate(readKeys.count * 10) {
                    for _ in 0..<10 {
                        for key in readKeys {
                            guard let note = dictionary[key] else { throw MissingRow(key: key) }
                            consume(note)
                        }
                    }
                }
            }),
    ] + fileLines(workload)
}

/// All rows in their order, and the file that they make.
private func fileLines(_ workload: Workload) -> [Line] {
    let written = ReferenceRows(workload, order: Array(workload.keys.indices))
    return [
        Line(
            name: "yap.read.iterate", unit: "rows/s",
            ours: { folder in
                let connection = try Ours.filled(workload, in: folder, cachedRows: 0).newConnection()
                return try rate(workload.keys.count) {
                    try connection.blocking.read { transaction in
                        for row in try transaction.objects(Note.self, inCollection: Workload.collection) {
                            consume(row.object)
                        }
                    }
                }
            },
            reference: { folder in
                let reference = try Reference(folder: folder, template: Ours.template(in: folder))
                try reference.insertInOneTransaction(written.rows)
                return try rate(workload.keys.count) { try reference.readInOrder(count: workload.keys.count) }
            }),
        Line(
            name: "yap.file.size", unit: "rows/MB",
            ours: { folder in
                let database = try Ours.filled(workload, in: folder, cachedRows: 0)
                try await database.close()
                return try rowsPerMegabyte(written.rows.count, database.path)
            },
            reference: { folder in
                try Reference(folder: folder, template: Ours.template(in: folder))
                    .insertInOneTransaction(written.rows)
                return try rowsPerMegabyte(written.rows.count, Reference.path(in: folder))
            }),
    ]
}

/// How many rows a file has for each megabyte of it and of its log.
private func rowsPerMegabyte(_ rowsCount: Int, _ path: String) throws -> Double {
    let bytes = try [path, path + "-wal"].filter(FileManager.default.fileExists(atPath:)).reduce(0) {
        sum, path in
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return sum + (attributes[.size] as? Int ?? 0)
    }
    return Double(rowsCount) / (Double(bytes) / 1e6)
}

struct MissingRow: Error {
    let key: String
}

/// Keeps the compiler from leaving out what nobody looks at.
@inline(never)
func consume(_ note: Note) {}

/// How the lines open databases.
enum Ours {
    static func database(
        in folder: URL, durability: YapDatabaseOptions.Durability = .full, cachedRows: Int = 1000
    ) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = durability
        options.cachedRowsPerCollectionMax = cachedRows
        return try YapDatabase(url: folder.appendingPathComponent("ours.sqlite"), options: options) {
            $0.register(Note.self, inCollection: Workload.collection)
        }
    }

    /// A database that has the rows.
    static func filled(_ workload: Workload, in folder: URL, cachedRows: Int) throws -> YapDatabase {
        let database = try database(in: folder, cachedRows: cachedRows)
        try database.newConnection().blocking.readWrite { try $0.setAll(workload) }
        return database
    }

    /// The file from which the reference takes its schema.
    static func template(in folder: URL) throws -> URL {
        try database(in: folder).blocking.close()
        return folder.appendingPathComponent("ours.sqlite")
    }
}

extension YapDatabaseReadWriteTransaction {
    func setAll(_ workload: Workload) throws {
        for (key, note) in zip(workload.keys, workload.notes) {
            try setObject(note, forKey: key, inCollection: Workload.collection)
        }
    }
}

extension YapDatabaseReadTransaction {
    func getAll(_ keys: [String]) throws {
        for key in keys {
            guard let note = try object(Note.self, forKey: key, inCollection: Workload.collection) else {
                throw MissingRow(key: key)
            }
            consume(note)
        }
    }
}

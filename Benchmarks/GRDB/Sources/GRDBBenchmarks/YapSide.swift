import Foundation
import Yap

/// How the lines open Yap's database.
enum YapSide {
    static func database(
        in folder: URL, durability: YapDatabaseOptions.Durability = .full
    ) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.durability = durability
        // GRDB keeps no objects in memory.
        options.cachedRowsPerCollectionMax = 0
        return try YapDatabase(url: folder.appendingPathComponent("yap.sqlite"), options: options) {
            $0.register(Note.self, inCollection: Rows.collection)
        }
    }

    /// A database that has the rows.
    static func filled(_ rows: Rows, in folder: URL) throws -> YapDatabase {
        let database = try database(in: folder)
        try database.newConnection().blocking.readWrite { try $0.setAll(rows) }
        return database
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ index: Int, of rows: Rows) throws {
        try setObject(rows.notes[index], forKey: rows.keys[index], inCollection: Rows.collection)
    }

    func setAll(_ rows: Rows) throws {
        for index in rows.keys.indices { try set(index, of: rows) }
    }
}

extension YapDatabaseReadTransaction {
    func getAll(_ keys: [String]) throws {
        for key in keys {
            guard let note = try object(Note.self, forKey: key, inCollection: Rows.collection) else {
                throw MissingRow(key: key)
            }
            consume(note)
        }
    }
}

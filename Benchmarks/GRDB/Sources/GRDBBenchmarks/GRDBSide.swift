import Foundation
import GRDB
import Yap

/// A row with the bytes that Yap stores: the object by Yap's coder, with the same work of encoding and decoding.
struct StoredNote: FetchableRecord, PersistableRecord {
    static let databaseTableName = "note"

    let key: String
    let data: Data

    init(key: String, note: Note) throws {
        self.key = key
        data = Data(try CBOREncoder().encode(note))
    }

    init(row: Row) throws {
        key = row["key"]
        data = row["data"]
    }

    func encode(to container: inout PersistenceContainer) throws {
        container["key"] = key
        container["data"] = data
    }

    func note() throws -> Note { try data.withUnsafeBytes { try CBORDecoder().decode(Note.self, from: $0) } }
}

/// A row as GRDB's documentation advises: a column for each property. `tags` is JSON.
struct NoteColumns: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "noteColumns"

    let key: String
    let identifier: UUID
    let title: String
    let body: String
    let isDone: Bool
    let priority: Int
    let estimateHours: Double
    let created: Date
    let modified: Date
    let project: String?
    let tags: [String]

    init(key: String, note: Note) {
        self.key = key
        (identifier, title, body, isDone) = (note.identifier, note.title, note.body, note.isDone)
        (priority, estimateHours) = (note.priority, note.estimateHours)
        (created, modified) = (note.created, note.modified)
        (project, tags) = (note.project, note.tags)
    }

    var note: Note {
        Note(
            identifier: identifier, title: title, body: body, isDone: isDone, priority: priority,
            estimateHours: estimateHours, created: created, modified: modified, project: project, tags: tags)
    }
}

/// How the lines open GRDB's database.
enum GRDBSide {
    static func path(in folder: URL) -> String { folder.appendingPathComponent("grdb.sqlite").path }

    /// A pool, which has a write-ahead log as Yap's file has, with the same pragma of durability.
    static func pool(in folder: URL, isFull: Bool = true) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(sql: isFull ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        }
        let pool = try DatabasePool(path: path(in: folder), configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data BLOB NOT NULL);
                    CREATE TABLE noteColumns (
                        key TEXT PRIMARY KEY NOT NULL, identifier BLOB NOT NULL, title TEXT NOT NULL,
                        body TEXT NOT NULL, isDone BOOLEAN NOT NULL, priority INTEGER NOT NULL,
                        estimateHours DOUBLE NOT NULL, created DATETIME NOT NULL, modified DATETIME NOT NULL,
                        project TEXT, tags TEXT NOT NULL
                    );
                    """)
        }
        return pool
    }

    /// A pool that has the rows.
    static func filled(_ rows: Rows, in folder: URL) throws -> DatabasePool {
        let pool = try pool(in: folder)
        try pool.write { try $0.insertAll(rows) }
        return pool
    }

    /// A pool that has the rows, with a column for each property.
    static func filledColumns(_ rows: Rows, in folder: URL) throws -> DatabasePool {
        let pool = try pool(in: folder)
        try pool.write { try $0.insertAllColumns(rows) }
        return pool
    }
}

extension Database {
    func insert(_ index: Int, of rows: Rows) throws {
        try StoredNote(key: rows.keys[index], note: rows.notes[index]).insert(self)
    }

    func insertAll(_ rows: Rows) throws {
        for index in rows.keys.indices { try insert(index, of: rows) }
    }

    func insertAllColumns(_ rows: Rows) throws {
        for (key, note) in zip(rows.keys, rows.notes) { try NoteColumns(key: key, note: note).insert(self) }
    }
}

import SQLite

@testable import Yap

/// An extension that can catch up: its table has the title of each todo and the text of each note.
final class RowMirror: YapDatabaseExtension {
    static let classVersion = 1
    static let catchesUp = true
    let versionTag: String
    let collections: [String]?
    /// Whether the table's key is the row's name, and not its rowid.
    let isByName: Bool
    /// The rows that were handed to `fill`, and what was registered.
    let log: Log
    let onFill: @Sendable () throws -> Void

    init(
        _ collections: [String]? = nil, isByName: Bool = false, versionTag: String = "1", log: Log = Log(),
        onFill: @escaping @Sendable () throws -> Void = {}
    ) {
        (self.collections, self.isByName, self.versionTag) = (collections, isByName, versionTag)
        (self.log, self.onFill) = (log, onFill)
    }

    func tableNames(registeredName: String) -> [String] { ["mirror_\(registeredName)"] }

    func makeConnection(registeredName: String) -> Connection {
        Connection(self, "mirror_\(registeredName)")
    }

    final class Connection: YapDatabaseExtensionConnection {
        private let instance: RowMirror
        private let table: String

        init(_ instance: RowMirror, _ table: String) { (self.instance, self.table) = (instance, table) }

        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            Transaction(instance, table, tables)
        }

        func apply(_ changes: any Sendable) {}
        func dropCaches() {}
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        private let instance: RowMirror
        private let table: String
        private let tables: YapDatabaseExtensionTables

        init(_ instance: RowMirror, _ table: String, _ tables: YapDatabaseExtensionTables) {
            (self.instance, self.table, self.tables) = (instance, table, tables)
        }

        /// What the table has, in the order of the rowids.
        func lines() throws -> [String] {
            try tables.rows("SELECT id, collection, key, text FROM \(table) ORDER BY id").map { row in
                row.map { "\($0)" }.joined(separator: " ")
            }
        }

        func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
            instance.log.add("missed \(previous.map { "\($0.missedChanges)" } ?? "all")")
            if let previous, previous.missedChanges != .unknown, previous.versionTag == instance.versionTag {
                return .isUnchanged
            }
            let key = instance.isByName ? "collection, key" : "id"
            try tables.execute(
                """
                DROP TABLE IF EXISTS \(table);
                CREATE TABLE \(table) (id INTEGER, collection TEXT, key TEXT, text TEXT, PRIMARY KEY (\(key)))
                """)
            return .isEmpty
        }

        func fill(_ rows: [YapDatabaseStoredRow]) throws {
            for row in rows { instance.log.add("filled \(row.identity.key)") }
            try instance.onFill()
            for row in rows { try add(row.identity, row.object) }
        }

        func didChange(_ change: YapDatabaseRowChange) throws {
            switch change {
            case .insert(let row, let object, _), .update(let row, let object, _),
                .replaceObject(let row, let object):
                try add(row, object)
            case .remove(let rows):
                for row in rows { try remove(row) }
            case .removeAll: try tables.run("DELETE FROM \(table)")
            case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
            }
        }

        private func add(_ row: YapDatabaseRowIdentity, _ object: any Sendable) throws {
            let text = (object as? Todo)?.title ?? object as? String ?? ""
            try tables.run(
                "INSERT OR REPLACE INTO \(table) VALUES (?1, ?2, ?3, ?4)",
                [.integer(row.rowID), .text(row.collection), .text(row.key), .text(text)])
        }

        private func remove(_ row: YapDatabaseRowIdentity) throws {
            if instance.isByName {
                try tables.run(
                    "DELETE FROM \(table) WHERE collection = ?1 AND key = ?2",
                    [.text(row.collection), .text(row.key)])
            } else {
                try tables.run("DELETE FROM \(table) WHERE id = ?1", [.integer(row.rowID)])
            }
        }
    }
}

/// What is left of a registration, step by step.
struct SteppedRegistration {
    let database: YapDatabase
    private let generation: UInt64?

    init(_ instance: some YapDatabaseExtension, _ name: String, in database: YapDatabase) throws {
        self.database = database
        generation = try database.writer.withCore { try $0.register(instance, withName: name) }
    }

    /// Hands over the next batch; nil when the extension is complete.
    func next() throws -> Double? {
        guard let generation else { return nil }
        return try database.writer.withCore { try ExtensionFiller($0).fillNext(generation) }
    }

    /// As a cancellation does.
    func stop() throws {
        guard let generation else { return }
        _ = try database.writer.withCore { $0.stopFilling(generation) }
    }

    func finish() throws {
        while try next() != nil {}
    }
}

extension YapDatabase {
    /// Whether a mirror equals the rows; nil if it can't be read.
    func isMirrored(_ name: String = "mirror", _ collections: [String] = ["notes", "todos"]) throws -> Bool? {
        let lines = try rowLines(collections)
        do {
            let mirrored = try newConnection().blocking.read {
                try $0.ext(name, as: RowMirror.self).lines()
            }
            return mirrored == lines
        } catch let error as YapDatabaseError where error.code == .extensionNotRegistered {
            return nil
        }
    }

    private func rowLines(_ collections: [String]) throws -> [String] {
        try newConnection().blocking.read { transaction in
            var lines: [(Int64, String)] = []
            for collection in collections {
                for key in try transaction.allKeys(inCollection: collection) {
                    guard let rowID = try transaction.rowID(forKey: key, inCollection: collection) else {
                        continue
                    }
                    let text =
                        collection == "todos"
                        ? try transaction.todo(key)?.title
                        : try transaction.object(String.self, forKey: key, inCollection: collection)
                    let columns: [YapDatabaseColumnValue] = [
                        .integer(rowID), .text(collection), .text(key), .text(text ?? ""),
                    ]
                    lines.append((rowID, columns.map { "\($0)" }.joined(separator: " ")))
                }
            }
            return lines.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    func writer<Result>(_ body: (WriterCore) throws -> Result) throws -> Result { try writer.withCore(body) }

    /// How many rows the log of missed changes has; nil if it was never made.
    func missedChangesCount() throws -> Int? {
        try newConnection().blocking.read { transaction in
            func number(_ sql: String) throws -> Int {
                try transaction.sqlite.withStatement(sql) { try $0.step() ? Int($0.int64(at: 0)) : 0 }
            }
            let isThere = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'changes2'") > 0
            return isThere ? try number("SELECT count(*) FROM changes2") : nil
        }
    }
}

import SQLite
import Testing

@testable import Yap

/// A database with todos, notes and the nodes of a graph, and an undo log.
struct UndoStage {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let undo: YapDatabaseUndo

    init(
        _ undo: YapDatabaseUndo = YapDatabaseUndo("undo", in: ["todos", "notes", "nodes"]),
        in folder: TestFolder? = nil, _ others: (any YapDatabaseNamedExtension)...
    ) throws {
        self.folder = try folder ?? TestFolder()
        self.undo = undo
        var options = YapDatabaseOptions()
        options.durability = .normal
        database = try self.folder.open(options) { $0.register(GraphNode.self, inCollection: "nodes") }
        connection = database.newConnection()
        for other in others { try database.blocking.register(other) }
        try database.blocking.register(undo)
    }

    func write<Result>(_ body: (YapDatabaseReadWriteTransaction) throws -> Result) throws -> Result {
        try connection.blocking.readWrite(body)
    }

    /// Reads with a connection whose caches are empty.
    func read<Result>(_ body: (YapDatabaseReadTransaction) throws -> Result) throws -> Result {
        try database.newConnection().blocking.read(body)
    }

    /// Writes in a transaction with one group.
    func group(_ actionName: String, _ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try write { transaction in try transaction[undo].group(actionName) { try body(transaction) } }
    }

    @discardableResult
    func undo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try write { try $0[undo].undo(policy) }
    }

    @discardableResult
    func redo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try write { try $0[undo].redo(policy) }
    }

    /// The names of the groups that can be undone, and of those that can be redone.
    func actionNames() throws -> [[String]] {
        try read { transaction in
            let log = try transaction[undo]
            return [try log.undoGroups().map(\.actionName), try log.redoGroups().map(\.actionName)]
        }
    }

    /// Each todo with its stamp, as a line.
    func todos() throws -> [String] {
        try read { transaction in
            let rows = try transaction.rows(Todo.self, metadata: Stamp.self, inCollection: "todos")
            return rows.map { "\($0.key) \($0.object.title) \($0.metadata?.milliseconds ?? 0)" }
        }
    }

    func notes() throws -> [String] {
        try read { try $0.objects(String.self, inCollection: "notes").map { "\($0.key) \($0.object)" } }
    }

    /// The rows of the log's table of rows.
    func recordedRows() throws -> Int {
        try read { transaction in
            try transaction.store.statement("SELECT count(*) FROM \"undoRows_undo\"") {
                try $0.step() ? Int($0.int64(at: 0)) : -1
            }
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    func set(_ title: String, _ key: String, stamp: Int64) throws {
        try setObject(
            Todo(title: title), metadata: Stamp(milliseconds: stamp), forKey: key, inCollection: "todos")
    }

    func note(_ text: String, _ key: String) throws {
        try setObject(text, forKey: key, inCollection: "notes")
    }
}

extension YapCollectionKey {
    static func todo(_ key: String) -> YapCollectionKey { YapCollectionKey(collection: "todos", key: key) }
}

/// The conflict that `body` throws.
func conflict(_ body: () throws -> Void) -> YapDatabaseUndoConflict? {
    do {
        try body()
        return nil
    } catch {
        return error as? YapDatabaseUndoConflict
    }
}

import SQLite

/// A durable undo log: what a person did, in groups with a name, can be undone and redone, also after a restart.
///
/// ```swift
/// let undo = YapDatabaseUndo("undo", in: ["lists", "todos"])
/// try await database.register(undo)
///
/// try await connection.readWrite { transaction in
///     try transaction[undo].group("Delete List") {
///         try transaction.removeObject(forKey: key, inCollection: "lists")
///     }
/// }
/// try await connection.readWrite { try $0[undo].undo() }
/// ```
///
/// Only writes inside of a group are recorded, so what sync fetches and what the app writes by itself are no steps of
/// the person. The log is part of the database file, and changes in the transaction of the writes.
///
/// Undo writes rows as the app does: indexes, views, relationships, hooks, sync and observers follow. It changes no row
/// that has another value than the group left: see `YapDatabaseUndoPolicy`.
public final class YapDatabaseUndo: YapDatabaseNamedExtension {
    /// The version of the tables.
    public static let classVersion = 1
    /// Its transactions note that they read the log.
    public static let notesReads = true

    /// Name of the log in transactions and in the file.
    public let name: String
    /// The collections whose rows are recorded; nil: all.
    public let collections: [String]?
    /// Maximum number of groups that can be undone or redone.
    public let groupsMax: Int
    /// Maximum number of rows that one group changes.
    public let rowsPerGroupMax: Int
    /// Maximum bytes of all groups together.
    public let bytesMax: Int
    /// The collections.
    public let versionTag: String

    /// Describes an undo log.
    ///
    /// Of each row that a group changes the log keeps the value before the group and the one after it. When the groups
    /// exceed `groupsMax` or `bytesMax`, the oldest are deleted. A single group that is too large fails.
    ///
    /// - Parameters:
    ///   - name: Name of the log in transactions and in the file.
    ///   - collections: The collections whose rows are recorded, also those whose rows a relationship or a hook changes
    ///     in a group; nil: all.
    ///   - groupsMax: Maximum number of groups that can be undone or redone. Default: 100.
    ///   - rowsPerGroupMax: Maximum number of rows that one group changes. Default: 10,000.
    ///   - bytesMax: Maximum bytes of all groups together. Default: 16 MB.
    public init(
        _ name: String, in collections: [String]?, groupsMax: Int = 100, rowsPerGroupMax: Int = 10_000,
        bytesMax: Int = 16 << 20
    ) {
        (self.name, self.collections) = (name, collections)
        (self.groupsMax, self.rowsPerGroupMax, self.bytesMax) = (groupsMax, rowsPerGroupMax, bytesMax)
        versionTag = collections.map { $0.sorted().map { "\($0.utf8.count) \($0)" }.joined() } ?? "all"
    }

    /// The table of groups, and that of their rows.
    public func tableNames(registeredName: String) -> [String] {
        ["undoGroups_", "undoRows_"].map { $0 + registeredName }
    }

    /// The log at one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseUndoConnection {
        YapDatabaseUndoConnection(self, tables: tableNames(registeredName: registeredName))
    }
}

/// An undo log at one SQLite handle. It keeps nothing but the texts of its statements.
public final class YapDatabaseUndoConnection: YapDatabaseExtensionConnection {
    let undo: YapDatabaseUndo
    let sql: UndoSQL

    init(_ undo: YapDatabaseUndo, tables: [String]) {
        self.undo = undo
        sql = UndoSQL(tables: tables, collections: undo.collections)
    }

    /// The log in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseUndoTransaction {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else {
            return YapDatabaseUndoTransaction(self, transaction, tables)
        }
        return YapDatabaseUndoWriteTransaction(self, writing: transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

/// That a transaction changed the log.
struct UndoChanges: Sendable {}

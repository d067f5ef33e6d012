import SQLite

/// A durable undo log: actions of the user, recorded as named groups, can be undone and redone, also after a restart.
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
/// try await connection.readWrite { _ = try $0[undo].undo() }
/// ```
///
/// Only writes inside a group are recorded, so fetched changes and the app's own writes aren't steps of the user. The
/// log is part of the database file, and changes in the transaction of the writes.
///
/// Undo writes rows as the app does, so indexes, views, relationships, hooks, sync and observers are updated. By
/// default it changes no row that has another value than the group left: see `YapDatabaseUndoPolicy`.
public final class YapDatabaseUndo: YapDatabaseNamedExtension {
    /// Version of the tables.
    public static let classVersion = 1
    /// Its transactions record their reads of the log.
    public static let notesReads = true

    /// Name of the log in transactions and in the file.
    public let name: String
    /// Collections with recorded rows. Nil for all.
    public let collections: [String]?
    /// Maximum groups to undo or redo.
    public let groupsMax: Int
    /// Maximum rows that one group changes.
    public let rowsPerGroupMax: Int
    /// Maximum bytes of all groups together.
    public let bytesMax: Int
    /// The collections.
    public let versionTag: String

    /// Describes an undo log.
    ///
    /// For each row that a group changes, the log stores the values before and after the group. When the groups
    /// exceed `groupsMax` or `bytesMax`, the oldest are deleted. A single group that is too large fails.
    ///
    /// - Parameters:
    ///   - name: Name of the log in transactions and in the file.
    ///   - collections: The collections to record. Include those that a relationship or a hook changes in a group.
    ///     Nil for all.
    ///   - groupsMax: Maximum groups to undo or redo. Default: 100.
    ///   - rowsPerGroupMax: Maximum rows that one group changes. Default: 10,000.
    ///   - bytesMax: Maximum bytes of all groups together. Default: 16 MB.
    public init(
        _ name: String, in collections: [String]?, groupsMax: Int = 100, rowsPerGroupMax: Int = 10_000,
        bytesMax: Int = 16 << 20
    ) {
        (self.name, self.collections) = (name, collections)
        (self.groupsMax, self.rowsPerGroupMax, self.bytesMax) = (groupsMax, rowsPerGroupMax, bytesMax)
        versionTag = collections.map { $0.sorted().map { "\($0.utf8.count) \($0)" }.joined() } ?? "all"
    }

    /// Returns the table of groups, and the table of their rows.
    public func tableNames(registeredName: String) -> [String] {
        ["undoGroups_", "undoRows_"].map { $0 + registeredName }
    }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseUndoConnection {
        YapDatabaseUndoConnection(self, tables: tableNames(registeredName: registeredName))
    }
}

/// An undo log at one SQLite handle. It only keeps its SQL texts.
public final class YapDatabaseUndoConnection: YapDatabaseExtensionConnection {
    let undo: YapDatabaseUndo
    let sql: UndoSQL

    init(_ undo: YapDatabaseUndo, tables: [String]) {
        self.undo = undo
        sql = UndoSQL(tables: tables, collections: undo.collections)
    }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseUndoTransaction {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else {
            return YapDatabaseUndoTransaction(self, transaction, tables)
        }
        return YapDatabaseUndoWriteTransaction(self, writing: transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

/// Reports that a transaction changed the log.
struct UndoChanges: Sendable {}

import SQLite

/// An undo log in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, or an error of the file.
///
/// An observation that reads from it runs again after each commit that changes the log, so menu items can follow it:
///
/// ```swift
/// for try await canUndo in connection.observe({ try $0[undo].canUndo }) {
///     button.isEnabled = canUndo
/// }
/// ```
public class YapDatabaseUndoTransaction: YapDatabaseExtensionTransaction {
    final let connection: YapDatabaseUndoConnection
    /// Retained until the transaction ends, which releases its extensions.
    private final let transaction: YapDatabaseReadTransaction
    final let tables: YapDatabaseExtensionTables

    init(
        _ connection: YapDatabaseUndoConnection, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
    }

    // MARK: Reading

    /// True if a group can be undone.
    public final var canUndo: Bool {
        get throws { try next(.undo) != nil }
    }

    /// True if a group can be redone.
    public final var canRedo: Bool {
        get throws { try next(.redo) != nil }
    }

    /// Name of the action that `undo()` would undo, or nil.
    public final var undoActionName: String? {
        get throws { try next(.undo)?.actionName }
    }

    /// Name of the action that `redo()` would redo, or nil.
    public final var redoActionName: String? {
        get throws { try next(.redo)?.actionName }
    }

    /// Returns the groups that can be undone, the next one first.
    ///
    /// - Parameter limit: Maximum number of groups. Default: all.
    public final func undoGroups(limit: Int? = nil) throws -> [YapDatabaseUndoGroup] {
        try groups(.undo, limit)
    }

    /// Returns the groups that can be redone, the next one first.
    ///
    /// - Parameter limit: Maximum number of groups. Default: all.
    public final func redoGroups(limit: Int? = nil) throws -> [YapDatabaseUndoGroup] {
        try groups(.redo, limit)
    }

    final func next(_ side: UndoSide) throws -> YapDatabaseUndoGroup? { try groups(side, 1).first }

    private func groups(_ side: UndoSide, _ limit: Int?) throws -> [YapDatabaseUndoGroup] {
        tables.noteRead { _ in true }
        let limit = limit.map { Int64(max(0, $0)) } ?? -1
        return try tables.withStatement(
            connection.sql.groupsOfSide, [.integer(side.rawValue), .integer(limit)]
        ) { statement in
            var groups: [YapDatabaseUndoGroup] = []
            while try statement.step() {
                groups.append(
                    YapDatabaseUndoGroup(
                        id: statement.int64(at: 0), actionName: statement.text(at: 1),
                        changedRowsCount: Int(statement.int64(at: 2)), bytesCount: Int(statement.int64(at: 3))
                    ))
            }
            return groups
        }
    }

    // MARK: Following. Only a transaction that writes has something to follow.

    /// Creates the tables.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        .isComplete
    }

    /// Records the row in a group.
    public func willChange(_ change: YapDatabaseRowChange) throws {}

    /// Reports whether the log changed.
    public func changesForConnections() -> (any Sendable)? { nil }

    /// Returns a closure that restores the recording.
    public func makeRestorePoint() throws -> () -> Void { {} }
}

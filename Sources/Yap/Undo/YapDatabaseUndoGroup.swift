/// A group of an undo log: what one action of a person changed.
public struct YapDatabaseUndoGroup: Hashable, Identifiable, Sendable {
    /// Number of the group in the log. Undo and redo give the group another one.
    public let id: Int64
    /// Name of the action, such as "Delete List".
    public let actionName: String
    /// Number of rows that the group changes.
    public let changedRowsCount: Int
    /// Bytes of the group in the log.
    public let bytesCount: Int
}

/// What undo and redo do with a row that has another value than the group left: another device, another process or a
/// write outside of a group has changed it since.
public enum YapDatabaseUndoPolicy: Sendable {
    /// Change nothing, and throw `YapDatabaseUndoConflict`.
    case throwConflict
    /// Leave these rows as they are, and undo the others.
    case skipChangedRows
}

/// What an undo or a redo did.
public struct YapDatabaseUndoResult: Hashable, Sendable {
    /// Name of the action that was undone or redone.
    public let actionName: String
    /// The rows that were left as they are: they were changed since, other rows would have been removed along with
    /// them, or what they depend on was deleted since. Empty with the policy `throwConflict`.
    public let skippedRows: [YapCollectionKey]
}

/// Rows that an undo or a redo would have overwritten or removed, though it is not the group that wrote them last.
///
/// Nothing was changed, and the transaction goes on. To undo the other rows, call `undo(.skipChangedRows)`; to forget
/// the log, call `removeAll()`.
public struct YapDatabaseUndoConflict: Error, Hashable, Sendable {
    /// Maximum number of rows in each list.
    public static let rowsMax = 100

    /// Name of the action that was to be undone or redone.
    public let actionName: String
    /// Rows of the group that were changed since.
    public let changedRows: [YapCollectionKey]
    /// Rows that a relationship or a hook would remove: rows that aren't of the group, along with one of the group; or
    /// rows of the group, because what they depend on was deleted since. Found only if `changedRows` is empty. The key
    /// "" stands for rows of a collection without the log that was cleared, or whose removals a commit doesn't all
    /// name.
    public let dependentRows: [YapCollectionKey]
}

extension YapDatabaseUndoConflict: CustomStringConvertible {
    /// What happened, the first of the rows, and what to do about it.
    public var description: String {
        let rows = changedRows + dependentRows
        let names = rows.prefix(3).map { "\($0.collection)/\($0.key)" }.joined(separator: ", ")
        let more = rows.count > 3 ? ", ..." : ""
        let reason = changedRows.isEmpty ? "would be removed" : "were changed since"
        return
            "\"\(actionName)\" can't be undone or redone as a whole: rows \(reason): \(names)\(more); "
            + "skip them with skipChangedRows"
    }
}

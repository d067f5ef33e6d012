/// A group of an undo log: the changes of one action of the user.
public struct YapDatabaseUndoGroup: Hashable, Identifiable, Sendable {
    /// Number of the group in the log. Undo and redo assign another one.
    public let id: Int64
    /// Name of the action, for example "Delete List".
    public let actionName: String
    /// Number of rows that the group changes.
    public let changedRowsCount: Int
    /// Bytes of the group in the log.
    public let bytesCount: Int
}

/// The handling of a row whose value isn't the one that the group left, because another device, another
/// process or a write outside a group has changed it.
public enum YapDatabaseUndoPolicy: Sendable {
    /// Change nothing, and throw `YapDatabaseUndoConflict`.
    case throwConflict
    /// Skip these rows, and undo the others.
    case skipChangedRows
}

/// Result of an undo or a redo.
public struct YapDatabaseUndoResult: Hashable, Sendable {
    /// Name of the action that was undone or redone.
    public let actionName: String
    /// Skipped rows: they were changed since, other rows would have been removed along with them, or rows that they
    /// depend on were deleted since. Empty with the policy `throwConflict`.
    public let skippedRows: [YapCollectionKey]
}

/// Rows that an undo or a redo would have overwritten or removed, although the group didn't write them last.
///
/// Nothing was changed, and the transaction continues. To undo the other rows, call `undo(.skipChangedRows)`; to
/// delete the log, call `removeAll()`.
public struct YapDatabaseUndoConflict: Error, Hashable, Sendable {
    /// Maximum number of rows in each list.
    public static let rowsMax = 100

    /// Name of the action to undo or redo.
    public let actionName: String
    /// Rows of the group that were changed since.
    public let changedRows: [YapCollectionKey]
    /// Rows that a relationship or a hook would remove: rows outside the group, along with one of the group; or rows
    /// of the group, because rows that they depend on were deleted since. Computed only if `changedRows` is empty.
    /// The key "" represents rows of an unrecorded collection that was cleared, or of which a commit doesn't name all
    /// removals.
    public let dependentRows: [YapCollectionKey]
}

extension YapDatabaseUndoConflict: CustomStringConvertible {
    /// Description of the conflict, with the first of the rows and the suggested remedy.
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

import SQLite

/// An undo log in a transaction that writes. Reads as in any transaction.
public final class YapDatabaseUndoWriteTransaction: YapDatabaseUndoTransaction {
    private let writing: YapDatabaseReadWriteTransaction
    private let recorder: UndoRecorder

    init(
        _ connection: YapDatabaseUndoConnection, writing: YapDatabaseReadWriteTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.writing = writing
        recorder = UndoRecorder(connection, tables)
        super.init(connection, writing, tables)
    }

    // MARK: Groups

    /// Runs `body`, whose writes can be undone together.
    ///
    /// ```swift
    /// try transaction[undo].group("Delete List") {
    ///     try transaction.removeObject(forKey: key, inCollection: "lists")
    /// }
    /// ```
    ///
    /// Rows that hooks and the rules of relationships change are part of the group. For that the rules fire at its end,
    /// and those for earlier writes of the transaction, which aren't part of it, at its beginning. A group that changes
    /// a row deletes the groups that can be redone; one that changes none isn't kept.
    ///
    /// The group is a savepoint: if `body` throws, or the group is too large, what `body` wrote is undone, and the
    /// transaction goes on. A group inside of another, or of an undo, is a part of that one.
    ///
    /// - Parameters:
    ///   - actionName: Name of the action for menus, such as "Delete List". Up to 1,000 bytes of UTF-8.
    ///   - body: Writes with this transaction.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws. `YapDatabaseError`: `undoGroupTooLarge`; `invalidExtension` for a name that is too
    ///   long; `savepointUnsupported` as `savepoint(_:)`.
    @discardableResult
    public func group<Result>(_ actionName: String, _ body: () throws -> Result) throws -> Result {
        try writing.check()
        if recorder.recording != nil { return try writing.savepoint(body) }
        guard actionName.utf8.count <= UndoRecorder.actionNameBytesMax else {
            throw YapDatabaseError(
                .invalidExtension,
                "the action's name has more than \(UndoRecorder.actionNameBytesMax) bytes")
        }
        return try writing.savepoint {
            // Rules that fire for earlier writes aren't part of it.
            try writing.settleExtensions()
            let id = try recorder.begin()
            let result = try body()
            try writing.settleExtensions()
            if let size = try recorder.end() {
                try recorder.deleteAll(of: .redo)
                try recorder.add(id, actionName, size, to: .undo)
            }
            return result
        }
    }

    // MARK: Undoing

    /// Undoes the last group, which can then be redone.
    ///
    /// Each row of the group gets the value that it had before. Hooks, relationships and sync see these writes as any
    /// others.
    ///
    /// - Parameter policy: What to do with rows that were changed since by others. Default: `throwConflict`.
    /// - Returns: What was undone; nil if there is no group to undo.
    /// - Throws: `YapDatabaseUndoConflict`. `YapDatabaseError`: `missingRegistration` if the collection of a row is no
    ///   longer registered; `decoding` if a value can no longer be read; `undoInsideGroup`; `undoGroupTooLarge` if
    ///   hooks change too many rows; `savepointUnsupported` as `savepoint(_:)`. In each case nothing was changed.
    @discardableResult
    public func undo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try run(from: .undo, policy)
    }

    /// Redoes the group that was undone last. As `undo(_:)`.
    @discardableResult
    public func redo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try run(from: .redo, policy)
    }

    /// Deletes all groups. Rows stay as they are.
    ///
    /// - Throws: `YapDatabaseError`: `undoInsideGroup`.
    public func removeAll() throws {
        try checkNoRecording("removeAll()")
        try recorder.deleteAll()
    }

    private func run(from side: UndoSide, _ policy: YapDatabaseUndoPolicy) throws -> YapDatabaseUndoResult? {
        try checkNoRecording("an undo or a redo")
        guard let group = try next(side) else { return nil }
        return try writing.savepoint {
            let run = UndoRun(transaction: writing, recorder: recorder, group: group, policy: policy)
            return try run.run(from: side)
        }
    }

    private func checkNoRecording(_ call: String) throws {
        try writing.check()
        guard recorder.recording != nil else { return }
        throw YapDatabaseError(
            .undoInsideGroup, "\(call) of \"\(connection.undo.name)\" was called inside of a group or an undo"
        )
    }

    // MARK: Following

    /// Creates the tables.
    public override func register(previous: YapDatabaseExtensionRegistration?) throws
        -> YapDatabaseExtensionContent
    {
        try recorder.register(previous: previous)
    }

    /// Records the row, in a group.
    public override func willChange(_ change: YapDatabaseRowChange) throws {
        try recorder.willChange(change)
    }

    /// Whether the log changed.
    public override func changesForConnections() -> (any Sendable)? {
        recorder.isChanged ? UndoChanges() : nil
    }

    /// Keeps what was recorded before.
    public override func makeRestorePoint() throws -> () -> Void { recorder.makeRestorePoint() }
}

extension YapDatabaseReadWriteTransaction {
    /// An undo log in this transaction, with the methods that record and undo groups.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`.
    public subscript(undo: YapDatabaseUndo) -> YapDatabaseUndoWriteTransaction {
        get throws {
            let part = try ext(undo.name, as: YapDatabaseUndo.self)
            if let part = part as? YapDatabaseUndoWriteTransaction { return part }
            throw YapDatabaseError(
                .extensionNotRegistered, "\"\(undo.name)\" isn't part of a transaction that writes")
        }
    }
}

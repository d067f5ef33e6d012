import SQLite

/// An undo log in a write transaction.
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

    /// Runs `body` and records its writes, so that they can be undone together.
    ///
    /// ```swift
    /// try transaction[undo].group("Delete List") {
    ///     try transaction.removeObject(forKey: key, inCollection: "lists")
    /// }
    /// ```
    ///
    /// Rows changed by hooks and by the rules of relationships are part of the group. The rules for earlier writes of
    /// the transaction, which aren't part of it, run at its beginning, and those for its own writes at its end. A
    /// group that changes a row deletes the groups that can be redone; a group without changes isn't kept.
    ///
    /// The group is a savepoint: if `body` throws, or the group is too large, the writes of `body` are undone, and
    /// the transaction continues. A group inside another one, or inside an undo, is part of that one.
    ///
    /// - Parameters:
    ///   - actionName: Name of the action for menus, for example "Delete List". Up to 1,000 bytes of UTF-8.
    ///   - body: Writes with this transaction.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`. `YapDatabaseError`: `undoGroupTooLarge`; `invalidExtension` for a name that is
    ///   too long; `savepointUnsupported` as in `savepoint(_:)`.
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
            // Rules for earlier writes aren't part of the group.
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

    /// Undoes the last group. It can then be redone.
    ///
    /// ```swift
    /// let result = try await connection.readWrite { try $0[undo].undo(.skipChangedRows) }
    /// ```
    ///
    /// Each row of the group gets its value from before the group. Hooks, relationships and sync handle these writes
    /// as any others.
    ///
    /// - Parameter policy: What to do with rows that were changed since. Default: `throwConflict`.
    /// - Returns: The result, or nil if there is no group to undo.
    /// - Throws: `YapDatabaseUndoConflict`. `YapDatabaseError`: `missingRegistration` if the collection of a row is
    ///   no longer registered; `decoding` if a value can no longer be read; `undoInsideGroup`; `undoGroupTooLarge` if
    ///   hooks change too many rows; `savepointUnsupported` as in `savepoint(_:)`. Nothing is changed then.
    @discardableResult
    public func undo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try run(from: .undo, policy)
    }

    /// Redoes the group that was undone last. Parameters and errors: see `undo(_:)`.
    @discardableResult
    public func redo(_ policy: YapDatabaseUndoPolicy = .throwConflict) throws -> YapDatabaseUndoResult? {
        try run(from: .redo, policy)
    }

    /// Deletes all groups. Rows aren't changed.
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

    /// Records the row in a group.
    public override func willChange(_ change: YapDatabaseRowChange) throws {
        try recorder.willChange(change)
    }

    /// Reports whether the log changed.
    public override func changesForConnections() -> (any Sendable)? {
        recorder.isChanged ? UndoChanges() : nil
    }

    /// Returns a closure that restores the recording.
    public override func makeRestorePoint() throws -> () -> Void { recorder.makeRestorePoint() }
}

extension YapDatabaseReadWriteTransaction {
    /// Returns the transaction of an undo log, with the methods that record and undo groups.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered`.
    public subscript(undo: YapDatabaseUndo) -> YapDatabaseUndoWriteTransaction {
        get throws {
            let part = try ext(undo.name, as: YapDatabaseUndo.self)
            if let part = part as? YapDatabaseUndoWriteTransaction { return part }
            throw YapDatabaseError(
                .extensionNotRegistered, "\"\(undo.name)\" isn't part of a transaction that writes")
        }
    }
}

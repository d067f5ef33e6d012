import SQLite

/// Records the values of rows before a group changes them, in the same transaction.
final class UndoRecorder {
    /// Maximum bytes of an action's name.
    static let actionNameBytesMax = 1_000

    /// A running group. Its rows are in their table already; its own row is written at its end.
    struct Recording {
        let id: Int64
        var rowsCount = 0
        var bytesCount = 0
    }

    let undo: YapDatabaseUndo
    let tables: YapDatabaseExtensionTables
    let sql: UndoSQL
    private(set) var recording: Recording?
    /// Whether the transaction changed the log.
    var isChanged = false

    init(_ connection: YapDatabaseUndoConnection, _ tables: YapDatabaseExtensionTables) {
        (undo, sql) = (connection.undo, connection.sql)
        self.tables = tables
    }

    // MARK: Registration

    func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        guard undo.groupsMax > 0, undo.rowsPerGroupMax > 0, undo.bytesMax > 0 else {
            throw YapDatabaseError(
                .invalidExtension,
                "groupsMax, rowsPerGroupMax and bytesMax of \"\(undo.name)\" are at least 1")
        }
        guard let previous, previous.classVersion == YapDatabaseUndo.classVersion else {
            try tables.execute(sql.create)
            isChanged = true
            return .isComplete
        }
        if previous.versionTag != undo.versionTag { try deleteUnheard() }
        return .isComplete
    }

    /// Deletes the groups that changed rows which the log no longer observes, because undoing them couldn't be
    /// redone.
    private func deleteUnheard() throws {
        guard let collections = undo.collections else { return }
        isChanged = true
        try tables.run(sql.deleteUnheard, collections.map { .text($0) })
        try tables.run(sql.deleteRowsOfNoGroup)
    }

    // MARK: Recording

    /// Begins a group.
    func begin() throws -> Int64 {
        let id = try number(sql.nextGroup)
        recording = Recording(id: id)
        return id
    }

    /// Records the rows that are about to change, unless the group has them.
    func willChange(_ change: YapDatabaseRowChange) throws {
        guard let id = recording?.id else { return }
        switch change {
        case .insert(let row, _, _):
            try record(sql.recordAbsent, [.integer(id), .text(row.collection), .text(row.key)])
        case .update(let row, _, _), .replaceObject(let row, _), .replaceMetadata(let row, _):
            try record(sql.record, [.integer(id), .integer(row.rowID)])
        case .remove(let rows):
            for row in rows { try record(sql.record, [.integer(id), .integer(row.rowID)]) }
        case .removeAll: try recordAll(id)
        case .touchObject, .touchMetadata, .touchRow: break
        }
    }

    private func record(_ statement: String, _ values: [YapDatabaseColumnValue]) throws {
        guard let bytes = try tables.rows(statement, values).first?.first else { return }
        try add(rowsCount: 1, bytesCount: Int(columnValue: bytes) ?? 0)
    }

    private func recordAll(_ id: Int64) throws {
        let heard = (undo.collections ?? []).map { YapDatabaseColumnValue.text($0) }
        // One more than the maximum of a group, if such a number exists.
        let countedMax = Int64(min(undo.rowsPerGroupMax, .max - 1)) + 1
        let size = try pair(sql.sizeOfAll, [.integer(countedMax)] + heard)
        try check(rowsCount: size.count, bytesCount: size.bytes)
        try tables.run(sql.recordAll, [.integer(id)] + heard)
        let sum = try pair(sql.sum, [.integer(id)])
        recording = Recording(id: id)
        try add(rowsCount: sum.count, bytesCount: sum.bytes)
    }

    private func add(rowsCount: Int, bytesCount: Int) throws {
        guard var recording else { return }
        recording.rowsCount += rowsCount
        recording.bytesCount += bytesCount
        self.recording = recording
        try check(rowsCount: recording.rowsCount, bytesCount: recording.bytesCount)
    }

    private func check(rowsCount: Int, bytesCount: Int) throws {
        if rowsCount > undo.rowsPerGroupMax {
            throw YapDatabaseError(
                .undoGroupTooLarge,
                "the group changes more than \(undo.rowsPerGroupMax) rows, rowsPerGroupMax of \"\(undo.name)\""
            )
        }
        if bytesCount > undo.bytesMax {
            throw YapDatabaseError(
                .undoGroupTooLarge,
                "the group has more than \(undo.bytesMax) bytes, bytesMax of \"\(undo.name)\"")
        }
    }

    // MARK: Ending

    /// Records the values after the group, and ends it.
    ///
    /// - Returns: Number of changed rows, and bytes of their values. Nil if it changed none.
    func end() throws -> (count: Int, bytes: Int)? {
        guard let recording else { return nil }
        let id = YapDatabaseColumnValue.integer(recording.id)
        let leftBytes = try number(sql.leftSize, [id])
        try check(rowsCount: 0, bytesCount: recording.bytesCount + Int(leftBytes))
        try tables.run(sql.setLeft, [id])
        self.recording = nil
        try tables.run(sql.deleteUnchanged, [id])
        let size = try pair(sql.sum, [id])
        return size.count > 0 ? size : nil
    }

    /// Adds the group to a side of the log.
    func add(_ id: Int64, _ actionName: String, _ size: (count: Int, bytes: Int), to side: UndoSide) throws {
        try tables.run(
            sql.insertGroup,
            [
                .integer(id), .integer(side.rawValue), .text(actionName), .integer(Int64(size.count)),
                .integer(Int64(size.bytes)),
            ])
        isChanged = true
        try trim(keeping: id)
    }

    /// Deletes the oldest groups until the rest is within the limits: groups to undo first.
    private func trim(keeping id: Int64) throws {
        while true {
            let total = try pair(sql.total)
            if total.count <= undo.groupsMax, total.bytes <= undo.bytesMax { return }
            guard case .integer(let oldest) = try tables.rows(sql.oldest, [.integer(id)]).first?.first else {
                return
            }
            try delete(oldest)
        }
    }

    // MARK: Deleting

    func delete(_ id: Int64) throws {
        isChanged = true
        try tables.run(sql.deleteGroup, [.integer(id)])
        try tables.run(sql.deleteRowsOfGroup, [.integer(id)])
    }

    func deleteAll(of side: UndoSide) throws {
        try tables.run(sql.deleteRowsOfSide, [.integer(side.rawValue)])
        if try tables.run(sql.deleteSide, [.integer(side.rawValue)]) > 0 { isChanged = true }
    }

    func deleteAll() throws {
        try tables.run(sql.deleteAllRows)
        if try tables.run(sql.deleteAll) > 0 { isChanged = true }
    }

    /// A savepoint that fails undoes the tables, and the recording with them.
    func makeRestorePoint() -> () -> Void {
        let (recording, isChanged) = (recording, isChanged)
        return { (self.recording, self.isChanged) = (recording, isChanged) }
    }

    // MARK: Reading

    func number(_ query: String, _ values: [YapDatabaseColumnValue] = []) throws -> Int64 {
        Int64(columnValue: try tables.rows(query, values).first?.first ?? .null) ?? 0
    }

    private func pair(_ query: String, _ values: [YapDatabaseColumnValue] = []) throws -> (
        count: Int, bytes: Int
    ) {
        let row = try tables.rows(query, values).first ?? []
        guard row.count == 2 else { return (0, 0) }
        return (Int(columnValue: row[0]) ?? 0, Int(columnValue: row[1]) ?? 0)
    }
}

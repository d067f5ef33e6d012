import SQLite

/// Undoes or redoes one group inside a savepoint.
///
/// Each row gets its value from before the group, through the write that the app would use. All changes meanwhile,
/// also by hooks and relationships, are recorded as a group of the other side.
struct UndoRun {
    private typealias Row = (name: YapCollectionKey, position: Int64)

    /// Undoing the group would remove rows outside the group.
    private struct RemovesOthers: Error {
        let rows: [YapCollectionKey]
    }

    /// Rows that the group removed or changed would be removed again, because the rows that they depend on are
    /// missing.
    private struct RemovesRestored: Error {
        let rows: [Row]
    }

    /// Maximum rounds of skipping rows that would be removed again. Then it is a conflict.
    private static let roundsMax = 10

    let transaction: YapDatabaseReadWriteTransaction
    let recorder: UndoRecorder
    let group: YapDatabaseUndoGroup
    let policy: YapDatabaseUndoPolicy
    private var tables: YapDatabaseExtensionTables { recorder.tables }
    private var sql: UndoSQL { recorder.sql }
    private var groupID: YapDatabaseColumnValue { .integer(group.id) }

    /// - Parameter side: The side of the group.
    func run(from side: UndoSide) throws -> YapDatabaseUndoResult {
        // Earlier writes of the transaction, and their effects by rules, aren't part of it.
        try transaction.settleExtensions()
        var skipped = try skipChangedRows()
        do {
            guard policy == .skipChangedRows else {
                try write(to: side.other) { try setRows() }
                return YapDatabaseUndoResult(actionName: group.actionName, skippedRows: [])
            }
            skipped += try writeSkipping(to: side.other)
            return YapDatabaseUndoResult(actionName: group.actionName, skippedRows: skipped)
        } catch let error as RemovesOthers {
            throw conflict(dependentRows: error.rows)
        } catch let error as RemovesRestored {
            throw conflict(dependentRows: error.rows.map(\.name))
        }
    }

    /// Writes the rows, except those that would be removed again, and except removals that would remove rows outside
    /// the group.
    ///
    /// - Returns: The skipped rows.
    private func writeSkipping(to side: UndoSide) throws -> [YapCollectionKey] {
        var skipped: [YapCollectionKey] = []
        var roundsCount = 0
        while true {
            roundsCount += 1
            do {
                try write(to: side) { try setRows() }
                return skipped
            } catch let error as RemovesRestored where roundsCount < Self.roundsMax {
                // Rows that depend on these are found in the next round.
                skipped += try skip(error.rows)
            } catch is RemovesOthers {
                try write(to: side) {
                    skipped += try removeRowsOneByOne()
                    try setRows()
                }
                return skipped
            }
        }
    }

    /// Removes rows from the group.
    private func skip(_ rows: [Row]) throws -> [YapCollectionKey] {
        for row in rows { try tables.run(sql.deleteRow, [.integer(row.position)]) }
        return rows.map(\.name)
    }

    private func conflict(
        changedRows: [YapCollectionKey] = [], dependentRows: [YapCollectionKey] = []
    ) -> YapDatabaseUndoConflict {
        let rowsMax = YapDatabaseUndoConflict.rowsMax
        return YapDatabaseUndoConflict(
            actionName: group.actionName, changedRows: Array(changedRows.prefix(rowsMax)),
            dependentRows: Array(dependentRows.prefix(rowsMax)))
    }

    // MARK: Rows that were changed since

    /// Removes rows from the group that have another value than it left. Rows that have their former value again need
    /// no undo and aren't a conflict.
    private func skipChangedRows() throws -> [YapCollectionKey] {
        var changed: [Row] = []
        for position in try positions(sql.changed, [groupID]) {
            let row = try row(at: position)
            if try isChanged(row) { changed.append((row.name, position)) }
        }
        guard !changed.isEmpty else { return [] }
        if policy == .throwConflict { throw conflict(changedRows: changed.map(\.name)) }
        return try skip(changed)
    }

    /// Returns true if a row with other bytes than the group left has another value. False if a later version of the
    /// type stored the same value again.
    private func isChanged(_ row: UndoRow) throws -> Bool {
        let name = row.name
        guard let left = row.leftObject,
            let registration = transaction.store.collection(name.collection)?.registration,
            let object = try transaction.serializedObject(forKey: name.key, inCollection: name.collection)
        else { return true }
        let metadata = try transaction.serializedMetadata(forKey: name.key, inCollection: name.collection)
        guard registration.object.storesSameValue(left, object) else { return true }
        guard row.leftMetadata != metadata else { return false }
        guard let leftMetadata = row.leftMetadata, let metadata, let coder = registration.metadata else {
            return true
        }
        return !coder.storesSameValue(leftMetadata, metadata)
    }

    // MARK: Writing

    /// Runs `body`. Its writes become a group of the other side and replace this one. If it fails, nothing is kept.
    private func write(to side: UndoSide, _ body: () throws -> Void) throws {
        // In a savepoint, the transaction names the changes since its beginning.
        try transaction.savepoint {
            let id = try recorder.begin()
            try body()
            try transaction.settleExtensions()
            // Rows that a hook or a rule changed after they were set.
            try setRows()
            try transaction.settleExtensions()
            let restored = try rows(sql.missing, [groupID])
            if !restored.isEmpty { throw RemovesRestored(rows: restored) }
            try checkRemovals(by: id)
            let size = try recorder.end()
            try recorder.delete(group.id)
            if let size { try recorder.add(id, group.actionName, size, to: side) }
        }
    }

    /// Sets the rows that don't have their former value, in the order in which the group changed them.
    private func setRows() throws {
        for position in try positions(sql.unlike, [groupID]) { try set(row(at: position), at: position) }
    }

    private func set(_ row: UndoRow, at position: Int64) throws {
        let name = row.name
        guard let object = row.object else {
            return try transaction.removeObject(forKey: name.key, inCollection: name.collection)
        }
        let registration = try transaction.store.registered(name.collection).registration
        let current = registration.object.upgraded(object)
        let metadata = row.metadata.map { registration.metadata?.upgraded($0) ?? $0 }
        if current != object || metadata != row.metadata {
            let metadataValue = metadata.map { YapDatabaseColumnValue.blob($0) } ?? .null
            try tables.run(sql.setRow, [.integer(position), .blob(current), metadataValue])
        }
        try transaction.setSerializedObject(
            current, metadata: metadata, forKey: name.key, inCollection: name.collection)
    }

    /// Removes the rows that the group inserted, each in a savepoint of its own. Skips rows if their removal would
    /// remove rows outside the group.
    private func removeRowsOneByOne() throws -> [YapCollectionKey] {
        var skipped: [YapCollectionKey] = []
        guard let id = recorder.recording?.id else { return [] }
        for position in try positions(sql.absentRows, [groupID]) {
            let name = try row(at: position).name
            do {
                try transaction.savepoint {
                    let before = try recorder.number(sql.lastPosition)
                    try transaction.removeObject(forKey: name.key, inCollection: name.collection)
                    try transaction.settleExtensions()
                    try checkRemovals(by: id, after: before)
                }
            } catch is RemovesOthers {
                skipped += try skip([(name, position)])
            }
        }
        return skipped
    }

    /// Checks that only rows of the group were removed.
    ///
    /// - Parameters:
    ///   - id: The recording.
    ///   - position: Its last row before the current savepoint.
    private func checkRemovals(by id: Int64, after position: Int64 = 0) throws {
        let rows = try rows(sql.removedAlong, [.integer(id), groupID, .integer(position)])
        let removed = rows.map(\.name) + unrecordedRemovals()
        if !removed.isEmpty { throw RemovesOthers(rows: removed) }
    }

    /// Returns the rows of unrecorded collections that were removed in the current savepoint, because nothing would
    /// bring them back. Rows that the savepoint inserted itself are excluded. The key "" represents unnamed rows:
    /// their collection was cleared, or the transaction has more changes than a commit names.
    private func unrecordedRemovals() -> [YapCollectionKey] {
        guard let collections = recorder.undo.collections else { return [] }
        let recorded = Set(collections.map { ExactString($0) })
        let changes = transaction.changes
        if changes.isAllCleared { return [YapCollectionKey(collection: "", key: "")] }
        var removed: [YapCollectionKey] = []
        for (collection, changes) in changes.collections where !recorded.contains(collection) {
            if changes.isCleared || changes.hasUnnamedRemovals {
                removed.append(YapCollectionKey(collection: collection.string, key: ""))
            }
            for (key, change) in changes.rows where change.flags.contains(.removed) && !change.isNew {
                removed.append(YapCollectionKey(collection: collection.string, key: key.string))
            }
        }
        return removed.sorted { ($0.collection, $0.key) < ($1.collection, $1.key) }
    }

    // MARK: Reading

    private func positions(_ query: String, _ values: [YapDatabaseColumnValue]) throws -> [Int64] {
        try tables.withStatement(query, values) { statement in
            var positions: [Int64] = []
            while try statement.step() { positions.append(statement.int64(at: 0)) }
            return positions
        }
    }

    private func rows(_ query: String, _ values: [YapDatabaseColumnValue]) throws -> [Row] {
        try tables.withStatement(query, values) { statement in
            var rows: [Row] = []
            while try statement.step() {
                let name = YapCollectionKey(collection: statement.text(at: 0), key: statement.text(at: 1))
                rows.append((name, statement.int64(at: 2)))
            }
            return rows
        }
    }

    private func row(at position: Int64) throws -> UndoRow {
        try tables.withStatement(sql.row, [.integer(position)]) { statement in
            guard try statement.step() else {
                throw YapDatabaseError(.corrupt, "the undo log \"\(recorder.undo.name)\" lacks a row")
            }
            return UndoRow(statement)
        }
    }
}

/// The actions in one transaction. Each call throws `YapDatabaseError`: `transactionEnded`, `decoding`, or an error
/// of the file.
public final class YapDatabaseActionTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    private let connection: YapDatabaseActionConnection<Object>
    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    /// Changes of this transaction.
    private var changes = ActionChanges()
    var manager: YapDatabaseActionManager<Object> { connection.manager }
    var sql: ActionSQL { connection.sql }

    init(
        _ connection: YapDatabaseActionConnection<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        (self.connection, self.transaction, self.tables) = (connection, transaction, tables)
    }

    // MARK: Reading

    /// Returns the actions in the order of their next starts.
    ///
    /// - Parameter limit: Maximum number of actions.
    public func actions(limit: Int = 100) throws -> [YapDatabaseScheduledAction] {
        try scheduled(sql.inOrder, limit).map(\.action)
    }

    /// Returns the actions of one object, in the order of their next starts.
    ///
    /// - Parameter key: Key of the object.
    public func actions(forKey key: String) throws -> [YapDatabaseScheduledAction] {
        guard let rowID = try transaction.rowID(forKey: key, inCollection: manager.collection) else {
            return []
        }
        return try scheduled(sql.inOrderOfRow, -1, .integer(rowID)).map(\.action)
    }

    /// Returns the number of all actions.
    public func count() throws -> Int {
        tables.noteRead { ($0 as? ActionChanges)?.isOfActions ?? true }
        return Int(columnValue: try tables.rows(sql.count).first?.first ?? .null) ?? 0
    }

    /// An action with the rowid of its object.
    struct Entry {
        let rowID: Int64
        let action: YapDatabaseScheduledAction
        let startMilliseconds: Int64
    }

    /// Returns the actions that a statement finds.
    func scheduled(_ sql: String, _ limit: Int, _ value: YapDatabaseColumnValue? = nil) throws -> [Entry] {
        tables.noteRead { _ in true }
        let values = [.integer(Int64(limit))] + (value.map { [$0] } ?? [])
        return try tables.rows(sql, values).map { row in
            guard case .integer(let rowID) = row[0], case .text(let key) = row[1],
                case .text(let identifier) = row[2], case .integer(let date) = row[3],
                case .integer(let start) = row[4], case .integer(let network) = row[5]
            else {
                throw YapDatabaseError(.corrupt, "a row of the actions \"\(manager.name)\" has a wrong type")
            }
            let id = YapDatabaseActionID(collection: manager.collection, key: key, identifier: identifier)
            let action = YapDatabaseScheduledAction(
                id: id, date: ActionTime.date(date), nextStart: ActionTime.date(start),
                requiresNetwork: network != 0)
            return Entry(rowID: rowID, action: action, startMilliseconds: start)
        }
    }

    // MARK: Starting

    /// Sets the next start of an action, if it is due.
    ///
    /// - Returns: The started action. Nil if it is no longer due, because the object changed or another process has
    ///   started it.
    /// - Throws: Also `decoding` for the object.
    func start(_ id: YapDatabaseActionID, rowID: Int64, now: Int64) throws -> YapDatabaseStartedAction<
        Object
    >? {
        // The rowid may have been reused by another row.
        guard try transaction.rowID(forKey: id.key, inCollection: id.collection) == rowID,
            let date = try tables.rows(
                sql.start, [.integer(rowID), .text(id.identifier), .integer(now)]
            ).first?.first
        else { return nil }
        changes.isOfStarts = true
        guard let date = Int64(columnValue: date),
            let object = try transaction.object(Object.self, forKey: id.key, inCollection: id.collection)
        else { return nil }
        let row = YapDatabaseRowIdentity(rowID: rowID, collection: id.collection, key: id.key)
        return YapDatabaseStartedAction(
            id: id, date: ActionTime.date(date), object: object, metadata: try storedMetadata(row))
    }

    /// Returns true if next starts were set by a clock that was ahead.
    func hasStartsAfterClockWasAhead(now: Int64) throws -> Bool {
        try !tables.rows(sql.hasIncorrect, [.integer(now)]).isEmpty
    }

    /// Makes actions due again if a clock that was ahead set their next starts.
    func correctStarts(now: Int64) throws {
        if try tables.run(sql.correct, [.integer(now)]) > 0 { changes.isOfActions = true }
    }

    // MARK: Following

    /// Creates the table, unless it has the current form, or lacks only known changes.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        try transaction.checkTypes(
            Object.self, metadata: [manager.metadataType], of: manager.collection, for: manager.name)
        let classVersion = YapDatabaseActionManager<Object>.classVersion
        if previous?.isCurrent(manager.versionTag, classVersion: classVersion) == true {
            return .isUnchanged
        }
        try tables.execute(sql.create)
        return .isEmpty
    }

    /// Adds the actions of existing objects.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        for row in rows { try set(row.identity, row.object, row.metadata) }
    }

    /// Updates the table for a change of the collection's rows.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, let metadata), .update(let row, let object, let metadata):
            try set(row, object, metadata)
        case .replaceObject(let row, let object): try set(row, object, try storedMetadata(row))
        case .touchObject(let row), .touchRow(let row): try setAgain(row)
        case .replaceMetadata(let row, _), .touchMetadata(let row):
            if manager.metadataType != nil { try setAgain(row) }
        case .remove(let rows):
            for row in rows where try tables.run(sql.deleteRow, [.integer(row.rowID)]) > 0 {
                changes.isOfActions = true
            }
        case .removeAll:
            try tables.run(sql.deleteAll)
            changes.isOfActions = true
        }
    }

    /// Returns whether actions or their starts changed.
    public func changesForConnections() -> (any Sendable)? {
        changes.isOfActions || changes.isOfStarts ? changes : nil
    }

    /// Returns a closure that restores the changes recorded so far.
    public func makeRestorePoint() throws -> () -> Void {
        let changes = changes
        return { self.changes = changes }
    }

    /// Returns the metadata of a row, if the actions depend on it.
    private func storedMetadata(_ row: YapDatabaseRowIdentity) throws -> (any Sendable)? {
        guard manager.metadataType != nil else { return nil }
        return try transaction.storedMetadata(of: row)
    }

    /// Sets the actions of a stored row.
    private func setAgain(_ row: YapDatabaseRowIdentity) throws {
        guard let object = try transaction.object(forKey: row.key, inCollection: row.collection) else {
            return
        }
        try set(row, object, try storedMetadata(row))
    }

    private func set(
        _ row: YapDatabaseRowIdentity, _ object: any Sendable, _ metadata: (any Sendable)?
    ) throws {
        var actions = try columns(object, metadata, row)
        for columns in try tables.rows(sql.ofRow, [.integer(row.rowID)]) {
            guard case .text(let identifier) = columns[0] else { continue }
            let name = [.integer(row.rowID), columns[0]]
            guard let new = actions.removeValue(forKey: ExactString(identifier)) else {
                try tables.run(sql.delete, name)
                changes.isOfActions = true
                continue
            }
            guard new != Array(columns.dropFirst()) else { continue }
            try tables.run(sql.update, name + new)
            changes.isOfActions = true
        }
        for (identifier, new) in actions {
            try tables.run(sql.insert, [.integer(row.rowID), .text(identifier.string)] + new)
            changes.isOfActions = true
        }
    }

    /// Returns the date, the retry and the network flag of each action of an object.
    private func columns(
        _ object: any Sendable, _ metadata: (any Sendable)?, _ row: YapDatabaseRowIdentity
    ) throws -> [ExactString: [YapDatabaseColumnValue]] {
        let object = try extensionObject(
            object, as: Object.self, for: manager.name, of: row.collection, key: row.key)
        var actions = manager.actions(object, metadata)
        // A page of a sync that failed here would be fetched again and again.
        if (transaction as? YapDatabaseReadWriteTransaction)?.passesOverMistakes == true {
            actions = Array(actions.prefix(YapDatabaseAction.perObjectMax))
        }
        guard actions.count <= YapDatabaseAction.perObjectMax else {
            throw YapDatabaseError(
                .invalidExtension,
                "the object has \(actions.count) actions, more than \(YapDatabaseAction.perObjectMax)",
                collection: row.collection, key: row.key)
        }
        return actions.reduce(into: [:]) { columns, action in
            let retry = max(1_000, ActionTime.milliseconds(seconds: action.retryAfterSeconds))
            columns[ExactString(action.identifier)] = [
                .integer(ActionTime.milliseconds(action.date)), .integer(retry),
                .integer(action.requiresNetwork ? 1 : 0),
            ]
        }
    }
}

import SQLite

/// Updates an extension from the log of the changes that it missed.
///
/// For each change it removes the row under its name at that time, and the rows that now have its rowid or
/// its name. Then it passes those rows to the extension. So it doesn't matter which of them the extension
/// has, or which of their changes it receives meanwhile: the last change of each row is last in the log.
struct ExtensionCatchUp {
    /// Maximum changes in one batch. Each results in up to two rows for `fill(_:)`.
    static let batchEntriesMax = YapDatabaseExtensionRegistration.filledRowsMax / 2

    private let store: StoreConnection
    private var log: MissedChangeLog { store.missedChangeLog }

    init(_ store: StoreConnection) {
        self.store = store
    }

    /// Passes the next changes to the extension, as many as its pace allows. Does nothing if they are
    /// unknown.
    func hand(
        to use: YapDatabaseReadTransaction.ExtensionUse, in transaction: YapDatabaseReadWriteTransaction
    ) throws {
        var (handledCount, left) = (0, Int64(0))
        repeat {
            guard let batch = try next(use.entry) else { break }
            let recordedCount = transaction.recordedCount
            try hand(batch, to: use.transaction)
            guard transaction.recordedCount == recordedCount else {
                throw YapDatabaseError(.extensionsDoNotSettle, "rows were changed while it catches up")
            }
            handledCount += batch.entriesCount
            left = try log.lastPosition() - batch.end
            try StoredExtension(use.entry.registered.name, store).setMissed(
                left == 0 ? .none : .known(after: batch.end))
            try log.trim()
        } while left > 0 && handledCount < use.entry.pace.entriesMax
        use.entry.pace.handled(handledCount, left: left)
    }

    private struct Batch {
        var entriesCount = 0
        /// Position of its last change.
        var end: Int64
        /// Names under which the extension may have the rows.
        var removed: Set<YapDatabaseRowIdentity> = []
        var rows: [Int64: YapDatabaseStoredRow] = [:]
    }

    /// Returns the next changes in the log for an extension, or nil if they are unknown.
    private func next(_ entry: ExtensionEntry) throws -> Batch? {
        guard case .known(let after) = try StoredExtension(entry.registered.name, store).missed() else {
            return nil
        }
        var (batch, bytesCount) = (Batch(end: after), 0)
        for change in try log.entries(after: after, max: Self.batchEntriesMax) {
            batch.entriesCount += 1
            batch.end = change.position
            guard wants(change.identity, entry) else { continue }
            batch.removed.insert(change.identity)
            for row in try current(change.identity) where batch.rows[row.rowID] == nil {
                guard wants(row, entry), let found = try read(row) else { continue }
                batch.removed.insert(row)
                batch.rows[row.rowID] = found.row
                bytesCount += found.bytesCount
            }
            if bytesCount >= ExtensionFiller.batchBytesMax { break }
        }
        return batch
    }

    /// Returns true if an extension may have the row already. The remaining rows are passed to it later.
    private func wants(_ row: YapDatabaseRowIdentity, _ entry: ExtensionEntry) -> Bool {
        row.rowID <= entry.filledThrough ?? .max && entry.hears(of: row.collection)
    }

    /// Returns the rows that now have the rowid or the name.
    private func current(_ identity: YapDatabaseRowIdentity) throws -> [YapDatabaseRowIdentity] {
        let table = RowTable(store: store)
        let byRowID = try table.identity(ofRowID: identity.rowID)
        if let byRowID, byRowID == identity { return [byRowID] }
        let byName = try table.rowID(identity.key, identity.collection).map {
            YapDatabaseRowIdentity(rowID: $0, collection: identity.collection, key: identity.key)
        }
        return [byRowID, byName].compactMap(\.self)
    }

    /// Returns the row and the bytes of its object and metadata, or nil if the type of its objects isn't registered.
    private func read(_ identity: YapDatabaseRowIdentity) throws
        -> (row: YapDatabaseStoredRow, bytesCount: Int)?
    {
        guard let registration = store.collection(identity.collection)?.registration else { return nil }
        return try store.statement(
            "SELECT rowid, collection, key, data, metadata FROM database2 WHERE rowid = ?1"
        ) { statement in
            try statement.bind(identity.rowID, at: 1)
            guard try statement.step() else { return nil }
            let row = try registration.row(identity.rowID, identity.collection, statement)
            return (row, statement.rowBytesCount)
        }
    }

    private func hand(_ batch: Batch, to transaction: any YapDatabaseExtensionTransaction) throws {
        let removed = Dictionary(grouping: batch.removed, by: { ExactString($0.collection) })
            .values.map { $0.sorted { $0.isBefore($1) } }
        // Sorted, because the order of a dictionary differs from run to run.
        for rows in removed.sorted(by: { $0[0].isBefore($1[0]) }) {
            var rest = rows[...]
            while !rest.isEmpty {
                let rows = rest.prefix(YapDatabaseRowChange.removedRowsMax)
                try transaction.didChange(.remove(Array(rows)))
                rest = rest.dropFirst(rows.count)
            }
        }
        let rows = batch.rows.values.sorted { $0.identity.rowID < $1.identity.rowID }
        if !rows.isEmpty { try transaction.fill(rows) }
    }
}

extension Statement {
    /// Bytes of object and metadata, in columns 3 and 4, of the statement's current row.
    var rowBytesCount: Int { withBytes(at: 3) { $0.count } + withBytes(at: 4) { $0.count } }
}

extension YapDatabaseRowIdentity {
    fileprivate func isBefore(_ other: YapDatabaseRowIdentity) -> Bool {
        (rowID, collection, key) < (other.rowID, other.collection, other.key)
    }
}

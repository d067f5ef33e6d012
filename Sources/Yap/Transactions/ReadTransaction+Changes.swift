import SQLite

/// What changed since a moment, in all processes and over restarts.
extension YapDatabaseReadTransaction {
    /// The moment that this transaction sees, for a later `changes(since:)`. In a write transaction: after what it has
    /// written so far.
    ///
    /// - Parameter reader: The name of a reader of changes.
    /// - Throws: `YapDatabaseError` of code `changeReaderNotRegistered`: call `YapDatabase.registerChangeReader(_:)`
    ///   before.
    public final func changeToken(of reader: String) throws -> YapDatabaseChangeToken {
        try check()
        dependencies?.addEverything()
        let stored = ChangeReader(reader, store)
        try stored.checkRegistration()
        return YapDatabaseChangeToken(
            reader: reader, epoch: try stored.epoch() ?? "", position: try stored.position(), mark: store.mark
        )
    }

    /// The rows that were set, touched or removed since a moment, each once, in the order of collections and keys'
    /// bytes.
    ///
    /// ```swift
    /// let next = try transaction.changeToken(of: "export")
    /// if let changes = try transaction.changes(since: token) {
    ///     for change in changes { print(change.collection, change.key, change.isRemoved) }
    /// } else {
    ///     // Everything may have changed: read all rows.
    /// }
    /// ```
    ///
    /// They are net changes: of a row that changed often, only whether it exists now. Inserted and updated rows aren't
    /// told apart, and a row that was inserted and removed since counts as removed. The sequence is lazy, as
    /// `objects(_:inCollection:where:)` is, and its memory doesn't grow with the number of changes.
    ///
    /// - Parameter token: The moment, from `changeToken(of:)`.
    /// - Returns: The changes; nil if they aren't known and everything may have changed. That is so if the token is of
    ///   another file or of a registration that has ended; if the changes after it were discarded; if more than 100,000
    ///   rows changed, or all collections were cleared at once; if a version of this library wrote that doesn't know
    ///   readers; and if the file is an older copy that has fewer commits than the token.
    /// - Throws: `YapDatabaseError` of code `changeReaderNotRegistered`.
    public final func changes(since token: YapDatabaseChangeToken) throws -> YapDatabaseRows<
        YapDatabaseChangedRow
    >? {
        try check()
        dependencies?.addEverything()
        let reader = ChangeReader(token.reader, store)
        try reader.checkRegistration()
        guard token.mayPrecede(store.mark), try reader.epoch() == token.epoch,
            let start = try reader.start(since: token.position)
        else { return nil }
        let written = try store.missedChangeLog.queryOfWrittenRows()
        let sql =
            written.map {
                """
                SELECT collection, key,
                    NOT EXISTS (SELECT 1 FROM database2 AS row WHERE row.collection = c.collection AND row.key = c.key)
                FROM (\($0)) AS c ORDER BY collection, key
                """
            } ?? "SELECT '', '', 0 WHERE ?1 IS NULL"
        return YapDatabaseRows(self, RowCursor.Query(sql: sql, after: start)) {
            YapDatabaseChangedRow(
                collection: $0.text(at: 0), key: $0.text(at: 1), isRemoved: $0.int64(at: 2) != 0)
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    /// Discards the changes up to a moment: the file needs no longer keep them. Earlier tokens of the reader then have
    /// no changes any more (`changes(since:)` returns nil), and this one still has those after it.
    ///
    /// Call it when the changes have been handled and `token` is stored. Does nothing if the changes after the token
    /// aren't known.
    /// - Throws: `YapDatabaseError` of code `changeReaderNotRegistered`.
    public func discardChanges(through token: YapDatabaseChangeToken) throws {
        try check()
        let reader = ChangeReader(token.reader, store)
        try reader.checkRegistration()
        guard token.mayPrecede(store.mark), try reader.epoch() == token.epoch else { return }
        try toldOf { try reader.discard(through: token.position) }
    }
}

import SQLite

/// Changes since a token was taken, of all processes and across restarts.
extension YapDatabaseReadTransaction {
    /// Returns a token for the state that this transaction reads, to pass to a later `changes(since:)`. In a
    /// write transaction it includes its writes so far.
    ///
    /// - Parameter reader: The name of a reader of changes.
    /// - Throws: `YapDatabaseError` with `changeReaderNotRegistered` if
    ///   `YapDatabase.registerChangeReader(_:)` wasn't called before.
    public final func changeToken(of reader: String) throws -> YapDatabaseChangeToken {
        try check()
        dependencies?.addEverything()
        let stored = ChangeReader(reader, store)
        try stored.checkRegistration()
        return YapDatabaseChangeToken(
            reader: reader, epoch: try stored.epoch() ?? "", position: try stored.position(), mark: store.mark
        )
    }

    /// Returns the rows that were set, touched or removed since a token was taken, each once, ordered by the bytes of
    /// collection and key.
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
    /// These are net changes: for a row that changed several times, the result only says whether it exists now.
    /// Inserted and updated rows aren't distinguished, and a row that was inserted and removed since the token counts
    /// as removed. The sequence is lazy, as `objects(_:inCollection:where:)` is, and its memory doesn't grow with the
    /// number of changes.
    ///
    /// - Parameter token: A token from `changeToken(of:)`.
    /// - Returns: The changes, or nil if they aren't known and everything may have changed. That happens if the token
    ///   belongs to another file or to a registration that has ended; if the changes after it were discarded; if more
    ///   than 100,000 rows changed, or all collections were cleared at once; if a version of this library that
    ///   doesn't know readers of changes has written; and if the file is an older copy with fewer commits than the
    ///   token.
    /// - Throws: `YapDatabaseError` with `changeReaderNotRegistered`.
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
    /// Discards the changes up to a token, so that the file needn't keep them. `changes(since:)` then returns nil for
    /// earlier tokens of the reader, and still returns the changes after this one.
    ///
    /// Call it when the changes have been handled and `token` is stored. Does nothing if the changes after the token
    /// aren't known.
    /// - Throws: `YapDatabaseError` with `changeReaderNotRegistered`.
    public func discardChanges(through token: YapDatabaseChangeToken) throws {
        try check()
        let reader = ChangeReader(token.reader, store)
        try reader.checkRegistration()
        guard token.mayPrecede(store.mark), try reader.epoch() == token.epoch else { return }
        try toldOf { try reader.discard(through: token.position) }
    }
}

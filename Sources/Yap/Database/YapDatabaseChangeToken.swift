/// A point in a database's history for a reader of changes. `changes(since:)` returns the changes after it, also in a
/// later run of the app.
///
/// Store the token together with the exported changes, for example in the folder or on the server that they are
/// exported to, or in a row, in the transaction that takes it. Discard the token of a transaction that was rolled
/// back.
public struct YapDatabaseChangeToken: Codable, Hashable, Sendable {
    /// Name of the reader of changes.
    public let reader: String
    /// Number of the newest commit when the token was taken.
    public let snapshot: UInt64

    /// Epoch of the reader. Empty if the changes weren't known when the token was taken.
    let epoch: String
    let position: Int64
    /// The database instance that made the newest commit, as its mark names it.
    let writer: Int64

    init(reader: String, epoch: String, position: Int64, mark: SnapshotMark) {
        self.reader = reader
        self.epoch = epoch
        self.position = position
        snapshot = mark.number
        writer = Int64(bitPattern: mark.writer)
    }

    /// Returns false if the file is an older copy than the one that the token was taken from.
    func mayPrecede(_ mark: SnapshotMark) -> Bool {
        snapshot < mark.number || snapshot == mark.number && writer == Int64(bitPattern: mark.writer)
    }
}

/// A row that was set, touched or removed since a token was taken.
public struct YapDatabaseChangedRow: Hashable, Sendable {
    /// Collection of the row.
    public let collection: String
    /// Key of the row.
    public let key: String
    /// True if the row no longer exists. It may also have been inserted after the token was taken.
    public let isRemoved: Bool
}

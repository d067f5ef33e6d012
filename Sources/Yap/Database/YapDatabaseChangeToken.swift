/// A moment of a database for a reader of changes: `changes(since:)` returns what changed after it, also in a later run
/// of the app.
///
/// Store it where the changes go, as in the folder or on the server that they are exported to; or in a row, in the
/// transaction that takes it. A token of a transaction that was rolled back is of no moment: don't keep it.
public struct YapDatabaseChangeToken: Codable, Hashable, Sendable {
    /// The reader of changes that it is of.
    public let reader: String
    /// The number of the newest commit at the moment.
    public let snapshot: UInt64

    /// Empty if the changes weren't known at the moment.
    let epoch: String
    let position: Int64
    /// The database instance that made the newest commit at the moment, as its mark names it.
    let writer: Int64

    init(reader: String, epoch: String, position: Int64, mark: SnapshotMark) {
        self.reader = reader
        self.epoch = epoch
        self.position = position
        snapshot = mark.number
        writer = Int64(bitPattern: mark.writer)
    }

    /// Whether the file may have been at the moment. It wasn't if an older copy of it was put in its place.
    func mayPrecede(_ mark: SnapshotMark) -> Bool {
        snapshot < mark.number || snapshot == mark.number && writer == Int64(bitPattern: mark.writer)
    }
}

/// A row that was set, touched or removed since a moment.
public struct YapDatabaseChangedRow: Hashable, Sendable {
    /// The row's collection.
    public let collection: String
    /// The row's key.
    public let key: String
    /// True if there is no such row any more. It may also not have existed at the moment.
    public let isRemoved: Bool
}

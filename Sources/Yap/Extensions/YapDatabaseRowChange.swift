/// Identity of a row. The rowid is constant as long as the row exists, and may be reused after it was removed, even
/// in the same transaction.
public struct YapDatabaseRowIdentity: Hashable, Sendable {
    /// SQLite's 64-bit rowid, which extensions store instead of collection and key.
    public let rowID: Int64
    /// Collection of the row.
    public let collection: String
    /// Key of the row.
    public let key: String
}

/// A change of rows, as passed to extensions.
public enum YapDatabaseRowChange: Sendable {
    /// A new row, with its object and metadata. Before the change it has no rowid yet: `willChange` gets 0.
    case insert(YapDatabaseRowIdentity, object: any Sendable, metadata: (any Sendable)?)
    /// Object and metadata of an existing row are set.
    case update(YapDatabaseRowIdentity, object: any Sendable, metadata: (any Sendable)?)
    /// Only the object of an existing row is set.
    case replaceObject(YapDatabaseRowIdentity, object: any Sendable)
    /// Only the metadata of an existing row is set. Nil clears it.
    case replaceMetadata(YapDatabaseRowIdentity, metadata: (any Sendable)?)
    /// The object is to be treated as changed, although it isn't changed on disk.
    case touchObject(YapDatabaseRowIdentity)
    /// The metadata is to be treated as changed, although it isn't changed on disk.
    case touchMetadata(YapDatabaseRowIdentity)
    /// Object and metadata are to be treated as changed, although they aren't changed on disk.
    case touchRow(YapDatabaseRowIdentity)
    /// Rows of one collection are removed, up to `YapDatabaseRowChange.removedRowsMax` in one call.
    case remove([YapDatabaseRowIdentity])
    /// All rows of all collections are removed. No `remove` is called for them.
    case removeAll

    /// Maximum rows in one `remove`.
    public static let removedRowsMax = 500
}

extension YapDatabaseRowChange {
    /// Collection of the rows. Nil for all.
    var collection: String? {
        switch self {
        case .insert(let row, _, _), .update(let row, _, _), .replaceObject(let row, _),
            .replaceMetadata(let row, _), .touchObject(let row), .touchMetadata(let row), .touchRow(let row):
            row.collection
        case .remove(let rows): rows.first?.collection
        case .removeAll: nil
        }
    }

    /// Rows that are changed one by one.
    var rows: [YapDatabaseRowIdentity] {
        switch self {
        case .insert(let row, _, _), .update(let row, _, _), .replaceObject(let row, _),
            .replaceMetadata(let row, _), .touchObject(let row), .touchMetadata(let row), .touchRow(let row):
            [row]
        case .remove(let rows): rows
        case .removeAll: []
        }
    }

    /// Returns the part of the change for rows up to a rowid, or nil if there is none.
    func limited(toRowsThrough rowIDMax: Int64) -> YapDatabaseRowChange? {
        switch self {
        // Before an insert the rowid isn't known.
        case .insert(let row, _, _): row.rowID != 0 && row.rowID <= rowIDMax ? self : nil
        case .update(let row, _, _), .replaceObject(let row, _), .replaceMetadata(let row, _),
            .touchObject(let row), .touchMetadata(let row), .touchRow(let row):
            row.rowID <= rowIDMax ? self : nil
        case .remove(let rows):
            rows.contains { $0.rowID <= rowIDMax } ? .remove(rows.filter { $0.rowID <= rowIDMax }) : nil
        case .removeAll: self
        }
    }
}

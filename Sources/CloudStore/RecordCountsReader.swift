/// How many records of a type a zone has.
public struct RecordCount: Hashable, Sendable {
    /// The zone.
    public let zoneName: String
    /// The type.
    public let recordType: String
    /// How many there are, as far as was counted.
    public let count: Int
    /// Whether there may be more.
    public let isCapped: Bool
}

/// How many rows there are of what was counted.
public struct CountedRows: Hashable, Sendable {
    /// How many there are, as far as was counted.
    public let count: Int
    /// How many rows were looked at for it.
    public let rowsRead: Int

    /// Makes a count.
    public init(count: Int, rowsRead: Int) {
        self.count = count
        self.rowsRead = rowsRead
    }
}

/// What a store counts for the operator. Tombstones don't count, nor do rows of zones that were deleted.
public protocol RecordCountsReader {
    /// The records of a database by zone and type. Counting ends after `rowsMax` records.
    func countRecords(in database: StoredDatabaseKey, rowsMax: Int) throws -> [RecordCount]

    /// The records of a type, of all users; counts `rowsMax` at most.
    func countRecords(ofType recordType: String, rowsMax: Int) throws -> CountedRows

    /// The entries of an index of a type, of all users; counts `rowsMax` at most.
    func countEntries(
        ofType recordType: String, field: String, kind: StoredIndexEntry.Kind, rowsMax: Int
    ) throws -> CountedRows

    /// The pushes that devices haven't taken yet; counts `rowsMax` at most. Nil where that isn't known.
    func countPushes(rowsMax: Int) throws -> Int?
}

extension SQLiteStoreTransaction: RecordCountsReader {
    func countRecords(in database: StoredDatabaseKey, rowsMax: Int) throws -> [RecordCount] {
        try indexTables.countRecords(in: database, rowsMax: rowsMax)
    }

    func countRecords(ofType recordType: String, rowsMax: Int) throws -> CountedRows {
        try indexTables.countRecords(ofType: recordType, rowsMax: rowsMax)
    }

    func countEntries(
        ofType recordType: String, field: String, kind: StoredIndexEntry.Kind, rowsMax: Int
    ) throws -> CountedRows {
        try indexTables.countEntries(ofType: recordType, field: field, kind: kind, rowsMax: rowsMax)
    }

    func countPushes(rowsMax: Int) throws -> Int? { try pushTables.countPushes(rowsMax: rowsMax) }
}

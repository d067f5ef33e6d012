/// The number of records of a type in a zone.
package struct RecordCount: Hashable, Sendable {
    /// The zone.
    package let zoneName: String
    /// The type.
    package let recordType: String
    /// Number of records that were counted.
    package let count: Int
    /// True if there may be more.
    package let isCapped: Bool
}

/// The result of a count of rows.
package struct CountedRows: Hashable, Sendable {
    /// Number of rows that were counted.
    package let count: Int
    /// Number of rows that were read for it.
    package let rowsRead: Int

    /// Makes a count.
    package init(count: Int, rowsRead: Int) {
        self.count = count
        self.rowsRead = rowsRead
    }
}

/// Counts for the operator. Tombstones and the rows of deleted zones aren't counted.
package protocol RecordCountsReader {
    /// Counts the records of a database by zone and type. Counting stops after `rowsMax` records.
    func countRecords(in database: StoredDatabaseKey, rowsMax: Int) throws -> [RecordCount]

    /// Counts the records of a type, of all users. Counting stops at `rowsMax`.
    func countRecords(ofType recordType: String, rowsMax: Int) throws -> CountedRows

    /// Counts the entries of an index of a type, of all users. Counting stops at `rowsMax`.
    func countEntries(
        ofType recordType: String, field: String, kind: StoredIndexEntry.Kind, rowsMax: Int
    ) throws -> CountedRows

    /// Counts the pending pushes of devices. Counting stops at `rowsMax`. Nil if the store can't count them.
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

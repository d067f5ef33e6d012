/// Information for the operator about the records of all users.
package protocol RecordTypesReader {
    /// Returns the types of all records, sorted. Reads each record's row.
    func recordTypes() throws -> [String]
}

extension SQLiteStoreTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] { try recordTable.types() }
}

extension MemoryTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] {
        Set(
            tables.records.values.map(\.values).joined().filter { !$0.isDeleted }.map(\.recordType)
        ).sorted()
    }
}

/// What a store tells the operator of the records of all users together.
public protocol RecordTypesReader {
    /// The types of all records, sorted. Looks at each record.
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

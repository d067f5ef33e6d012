import SQLite

/// What a store tells the operator of the records of all users together.
public protocol RecordTypesReader {
    /// The types of all records, sorted. Looks at each record.
    func recordTypes() throws -> [String]
}

extension SQLiteStoreTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] {
        let sql = """
            SELECT DISTINCT type FROM records AS r WHERE isDeleted = 0 AND \(Self.isNotCleared) ORDER BY type
            """
        return try connection.withStatement(sql) { statement in
            var types: [String] = []
            while try statement.step() { types.append(statement.text(at: 0)) }
            return types
        }
    }
}

extension MemoryTransaction: RecordTypesReader {
    func recordTypes() throws -> [String] {
        Set(
            tables.records.values.map(\.values).joined().filter { !$0.isDeleted }.map(\.recordType)
        ).sorted()
    }
}

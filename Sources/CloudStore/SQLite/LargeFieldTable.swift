import SQLite

/// Large fields of records, in a table with row numbers. Owns `largeFields`.
///
/// `records` is a table without row numbers. A search in it compares whole rows, and reads all pages of each long row
/// on its way, even to find a short row.
struct LargeFieldTable {
    let connection: Connection

    /// Maximum size in bytes of fields that are stored in the row of their record. With them, a row of `records` still
    /// fits into a page of 4,096 bytes.
    static let fieldsInRowBytesMax = 2_048

    /// Reads the fields of a row of `records`.
    static let fieldsValue = """
        CASE WHEN fieldsRow IS NULL THEN fields ELSE (SELECT l.fields FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Selects their size in bytes. SQLite knows it without reading the fields.
    static let fieldsLength = """
        CASE WHEN fieldsRow IS NULL THEN length(fields) \
        ELSE (SELECT length(l.fields) FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Stores fields in the row `old`, or in a new one. If the length stays the same, SQLite writes only the changed
    /// pages.
    ///
    /// - Returns: The number of the row.
    func store(_ fields: [UInt8], in old: Int64?) throws -> Int64? {
        guard let old else {
            return try connection.withStatement("INSERT INTO largeFields (fields) VALUES (?1) RETURNING id") {
                statement in
                try statement.binding(fields, at: 1) { try statement.step() ? statement.int64(at: 0) : nil }
            }
        }
        try connection.withStatement("UPDATE largeFields SET fields = ?2 WHERE id = ?1") { statement in
            try statement.bind(old, at: 1)
            try statement.binding(fields, at: 2) { try statement.run() }
        }
        return old
    }

    func remove(_ row: Int64) throws {
        try connection.run("DELETE FROM largeFields WHERE id = ?1") { try $0.bind(row, at: 1) }
    }

    /// Removes the rows of all records of a zone.
    func removeAll(at place: ZoneKey) throws {
        let sql = "DELETE FROM largeFields WHERE id IN (\(RecordTable.largeFieldsAtPlace))"
        try connection.run(sql) { try $0.bind(place) }
    }
}

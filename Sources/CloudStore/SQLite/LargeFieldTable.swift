import SQLite

/// Fields of many bytes, which have a table of their own, with row numbers: `largeFields`.
///
/// `records` is a table without row numbers. A search in it compares whole rows, and reads all pages of each long row
/// on its way, also if it is a search for a short one.
struct LargeFieldTable {
    let connection: Connection

    /// Maximum size of fields, in bytes, that stand in the row of their record: with them a row of `records` still fits
    /// into a page of 4,096 bytes.
    static let fieldsInRowBytesMax = 2_048

    /// The fields of a row of `records`.
    static let fieldsValue = """
        CASE WHEN fieldsRow IS NULL THEN fields ELSE (SELECT l.fields FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Their size in bytes, which SQLite tells without reading them.
    static let fieldsLength = """
        CASE WHEN fieldsRow IS NULL THEN length(fields) \
        ELSE (SELECT length(l.fields) FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Stores fields in the row `old`, or in a new one. Of fields that keep their length SQLite writes the pages that
    /// change.
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

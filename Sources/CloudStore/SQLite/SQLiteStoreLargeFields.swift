import SQLite

/// Fields of many bytes have a table of their own, with row numbers.
///
/// `records` is a table without row numbers. A search in it compares whole rows, and reads all pages of each long row
/// on its way, also if it is a search for a short one.
extension SQLiteStoreTransaction {
    /// Maximum size of fields, in bytes, that stand in the row of their record: with them a row of `records` still fits
    /// into a page of 4,096 bytes.
    private static let fieldsInRowBytesMax = 2_048

    /// The fields of a row of `records`.
    static let fieldsValue = """
        CASE WHEN fieldsRow IS NULL THEN fields ELSE (SELECT l.fields FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Their size in bytes, which SQLite tells without reading them.
    static let fieldsLength = """
        CASE WHEN fieldsRow IS NULL THEN length(fields) \
        ELSE (SELECT length(l.fields) FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    /// Stores the fields of a record in a row of their own if they are large: in the one that the record has, or in a
    /// new one. Of fields that keep their length SQLite writes the pages that change. If they are not large, removes
    /// the row that the record has.
    ///
    /// By hand, because with a trigger SQLite copies the pages of each statement, to be able to take it back.
    ///
    /// - Returns: The number of the row; nil for fields that stand in the row of their record.
    func storeLargeFields(of record: RecordRow) throws -> Int64? {
        guard record.fields.count > Self.fieldsInRowBytesMax else {
            try removeLargeFields(of: record.key)
            return nil
        }
        if let row = try rowOfLargeFields(of: record.key) {
            try connection.withStatement("UPDATE largeFields SET fields = ?2 WHERE id = ?1") { statement in
                try statement.bind(row, at: 1)
                try statement.binding(record.fields, at: 2) { try statement.run() }
            }
            return row
        }
        return try connection.withStatement("INSERT INTO largeFields (fields) VALUES (?1) RETURNING id") {
            statement in
            try statement.binding(record.fields, at: 1) {
                try statement.step() ? statement.int64(at: 0) : nil
            }
        }
    }

    /// Removes the row of a record's large fields, if it has one.
    func removeLargeFields(of key: RecordKey) throws {
        guard let row = try rowOfLargeFields(of: key) else { return }
        try connection.withStatement("DELETE FROM largeFields WHERE id = ?1") { statement in
            try statement.bind(row, at: 1)
            try statement.run()
        }
    }

    /// The same for all records of a zone.
    func removeLargeFields(at place: ZoneKey) throws {
        let sql = """
            DELETE FROM largeFields WHERE id IN (
                SELECT fieldsRow FROM records
                WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND fieldsRow IS NOT NULL)
            """
        try connection.withStatement(sql) { statement in
            try bind(place, to: statement)
            try statement.run()
        }
    }

    private func rowOfLargeFields(of key: RecordKey) throws -> Int64? {
        let sql = """
            SELECT fieldsRow FROM records
            WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND name = ?4 AND fieldsRow IS NOT NULL
            """
        return try connection.withStatement(sql) { statement in
            try bindPlace(of: key.zone, to: statement)
            try statement.bind(key.recordName, at: 4)
            return try statement.step() ? statement.int64(at: 0) : nil
        }
    }
}

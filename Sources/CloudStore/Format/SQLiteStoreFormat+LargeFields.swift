extension SQLiteStoreFormat {
    /// Version 13 added a table for large fields. Existing large fields stay in the rows of their records until the
    /// records are written again.
    static let largeFieldsTable = """
        CREATE TABLE largeFields (id INTEGER PRIMARY KEY, fields BLOB NOT NULL) STRICT;
        ALTER TABLE records ADD COLUMN fieldsRow INTEGER;
        """
}

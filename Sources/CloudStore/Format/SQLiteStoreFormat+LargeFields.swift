extension SQLiteStoreFormat {
    /// What version 13 added: large fields have a table of their own. Those that are there already stay in the rows of
    /// their records until these are written again.
    static let largeFieldsTable = """
        CREATE TABLE largeFields (id INTEGER PRIMARY KEY, fields BLOB NOT NULL) STRICT;
        ALTER TABLE records ADD COLUMN fieldsRow INTEGER;
        """
}

extension SQLiteStoreFormat {
    /// The schema and the users' roles. Part of version 3.
    static let schemaTables = """
        CREATE TABLE schema (
            id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE userRoles (
            user TEXT NOT NULL, role TEXT NOT NULL,
            PRIMARY KEY (user, role)
        ) WITHOUT ROWID, STRICT;
        """
}

extension SQLiteStoreFormat {
    /// Indexes of records. Part of version 3.
    ///
    /// The records of a type in a zone have a number, so that an entry doesn't start with five long columns. A record's
    /// entries are stored a second time in its own row, to find those to delete when the record changes. Existing
    /// records get a row without entries.
    static let indexTables = """
        CREATE TABLE indexParts (
            id INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, type TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX indexPartKeys ON indexParts (scope, owner, zone, type);
        CREATE INDEX indexPartTypes ON indexParts (type, scope, owner, zone);
        CREATE TABLE indexedRecords (
            part INTEGER NOT NULL, name TEXT NOT NULL, entries BLOB NOT NULL,
            PRIMARY KEY (part, name)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE indexEntries (
            part INTEGER NOT NULL, field TEXT NOT NULL, kind INTEGER NOT NULL, value BLOB NOT NULL, name TEXT NOT NULL,
            PRIMARY KEY (part, field, kind, value, name)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE indexWork (type TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID, STRICT;
        INSERT INTO indexParts (scope, owner, zone, type)
            SELECT DISTINCT scope, owner, zone, type FROM records WHERE isDeleted = 0 ORDER BY 1, 2, 3, 4;
        INSERT INTO indexedRecords (part, name, entries)
            SELECT p.id, r.name, x'' FROM records r JOIN indexParts p USING (scope, owner, zone, type)
            WHERE r.isDeleted = 0 ORDER BY 1, 2;
        """
}

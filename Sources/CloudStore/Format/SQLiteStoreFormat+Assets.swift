extension SQLiteStoreFormat {
    /// Files of records, and the usage of each user. Part of version 3.
    ///
    /// The public database has a row for each creator of records, and one without a name for its total. Existing rows
    /// are counted once. Records of earlier versions have no files.
    static let assetTables = """
        CREATE TABLE recordAssets (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, name TEXT NOT NULL,
            digest BLOB NOT NULL, bytes INTEGER NOT NULL,
            PRIMARY KEY (scope, owner, zone, name, digest)
        ) WITHOUT ROWID, STRICT;
        CREATE INDEX assetsByDigest ON recordAssets (digest, scope, owner);
        CREATE TABLE usage (
            scope INTEGER NOT NULL, user TEXT NOT NULL,
            records INTEGER NOT NULL, recordBytes INTEGER NOT NULL, assetBytes INTEGER NOT NULL,
            PRIMARY KEY (scope, user)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE secrets (
            name TEXT NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (name)
        ) WITHOUT ROWID, STRICT;
        INSERT INTO usage SELECT 2, owner, count(*), sum(length(fields)), 0
            FROM records WHERE scope = 2 AND isDeleted = 0 GROUP BY owner;
        INSERT INTO usage SELECT 1, createdUser, count(*), sum(length(fields)), 0
            FROM records WHERE scope = 1 AND isDeleted = 0 GROUP BY createdUser;
        INSERT OR REPLACE INTO usage SELECT 1, '', sum(records), sum(recordBytes), 0
            FROM usage WHERE scope = 1 HAVING count(*) > 0;
        """
}

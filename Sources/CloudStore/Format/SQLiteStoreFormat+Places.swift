extension SQLiteStoreFormat {
    /// Version 5 added the removal of a deleted zone's rows in steps, and the usage of each zone's records.
    ///
    /// Numbers of clearings are never reused, because places are named after them.
    static let placeTables = """
        CREATE TABLE zonePlaces (
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, place TEXT NOT NULL,
            PRIMARY KEY (scope, owner, zone)
        ) WITHOUT ROWID, STRICT;
        CREATE TABLE clearings (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            scope INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, place TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX clearingPlaces ON clearings (scope, owner, place);
        ALTER TABLE zones ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN recordBytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN assetBytes INTEGER NOT NULL DEFAULT 0;
        UPDATE zones SET
            (records, recordBytes) = (SELECT count(*), coalesce(sum(length(r.fields)), 0) FROM records AS r
                WHERE r.scope = zones.scope AND r.owner = zones.owner AND r.zone = zones.zone AND r.isDeleted = 0),
            assetBytes = (SELECT coalesce(sum(a.bytes), 0) FROM recordAssets AS a
                WHERE a.scope = zones.scope AND a.owner = zones.owner AND a.zone = zones.zone);
        """
}

extension SQLiteStoreFormat {
    /// Version 8 added tombstones and zones to the usage of users. Existing rows are counted once.
    static let rowColumns = """
        ALTER TABLE zones ADD COLUMN tombstones INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE usage ADD COLUMN tombstones INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE usage ADD COLUMN zones INTEGER NOT NULL DEFAULT 0;
        UPDATE zones SET tombstones = (SELECT count(*) FROM records AS r
            WHERE r.scope = zones.scope AND r.owner = zones.owner AND r.isDeleted = 1 AND r.zone = coalesce(
                (SELECT place FROM zonePlaces AS p
                    WHERE p.scope = zones.scope AND p.owner = zones.owner AND p.zone = zones.zone), zones.zone));
        INSERT INTO usage (scope, user, records, recordBytes, assetBytes, tombstones, zones)
            SELECT scope, owner, 0, 0, 0, sum(tombstones), count(*) FROM zones WHERE true GROUP BY scope, owner
            ON CONFLICT (scope, user) DO UPDATE SET tombstones = excluded.tombstones, zones = excluded.zones;
        """
}

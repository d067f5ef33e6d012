extension SQLiteStoreFormat {
    /// Version 6 added indexes of tombstones and deleted zones by age. The time of earlier zone deletions is unknown;
    /// the service sets it when it first reads such a zone.
    static let ageColumns = """
        CREATE INDEX tombstonesMade ON records (modifiedMilliseconds) WHERE isDeleted = 1;
        ALTER TABLE zones ADD COLUMN deletedMilliseconds INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX zonesDeleted ON zones (deletedMilliseconds) WHERE isDeleted = 1;
        ALTER TABLE databases ADD COLUMN zoneFloor INTEGER NOT NULL DEFAULT 0;
        """
}

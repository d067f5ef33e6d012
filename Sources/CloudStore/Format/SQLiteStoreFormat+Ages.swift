extension SQLiteStoreFormat {
    /// What version 6 added: tombstones and deleted zones are found by their age. Of a zone that was deleted before,
    /// nobody knows when; the service says it when it first looks.
    static let ageColumns = """
        CREATE INDEX tombstonesMade ON records (modifiedMilliseconds) WHERE isDeleted = 1;
        ALTER TABLE zones ADD COLUMN deletedMilliseconds INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX zonesDeleted ON zones (deletedMilliseconds) WHERE isDeleted = 1;
        ALTER TABLE databases ADD COLUMN zoneFloor INTEGER NOT NULL DEFAULT 0;
        """
}

extension SQLiteStoreFormat {
    /// Version 9 added index entries to the usage of users. Existing entries are counted later in steps: the service
    /// checks the indexes of each type again, and finds nothing missing.
    static let indexColumns = """
        ALTER TABLE records ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zones ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE usage ADD COLUMN indexBytes INTEGER NOT NULL DEFAULT 0;
        INSERT OR IGNORE INTO indexWork (type, content) SELECT DISTINCT type, x'010000' FROM indexParts;
        """
}
